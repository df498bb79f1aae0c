/** Nothing that the outside makes up stays for good. The full ten million keys: test/fuzz/bounded-tables.test.ts. */
import { expect, test } from 'vitest'
import { BOUNDED_TABLES, growthOf } from './lib/bounded-tables.ts'

/** A tenth of the smallest thing that a key could leave behind, times this, is more than garbage collection varies. */
const KEYS = 60_000

test.each(BOUNDED_TABLES)('$name: $full keys and no more', async (table) => {
  const keys = Math.max(KEYS, table.full)
  expect((await growthOf(table, keys)) / keys).toBeLessThan(25)
})
