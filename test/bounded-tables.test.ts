/** Keys from outside are not kept forever. The full ten million keys: test/fuzz/bounded-tables.test.ts. */
import { expect, test } from 'vitest'
import { BOUNDED_TABLES, growthOf } from './lib/bounded-tables.ts'

/** A tenth of the smallest possible leak per key, times this, exceeds the noise of garbage collection. */
const KEYS = 60_000

test.each(BOUNDED_TABLES)('$name: at most $full keys', async (table) => {
  const keys = Math.max(KEYS, table.full)
  expect((await growthOf(table, keys)) / keys).toBeLessThan(25)
})
