/** Ten million distinct keys for each table that outside input fills. */
import { expect, test } from 'vitest'
import { BOUNDED_TABLES, growthOf } from '../lib/bounded-tables.ts'

const KEYS = Number(process.env['PCP_TS_KEYS'] ?? 10_000_000)

test.each(BOUNDED_TABLES)('$name', async (table) => {
  const bytes = await growthOf(table, KEYS)
  console.log(`${table.name}: ${KEYS} keys, ${(bytes / 2 ** 20).toFixed(1)} MiB more`)
  expect(bytes / KEYS).toBeLessThan(2)
})
