/** Columnar scan of one metric, in this process, on a file in the page cache. */
import { statSync } from 'node:fs'
import { openArchive } from '../../../src/pmapi/archive.ts'

const ROUNDS = 5

/** Returns a line with the best speed of several scans. */
export async function scanSpeed(archive: string): Promise<string> {
  const bytes = statSync(`${archive}.0`).size
  let best = Number.POSITIVE_INFINITY
  let found = 0
  for (let round = 0; round < ROUNDS; round++) {
    const context = await openArchive(archive)
    const id = await context.lookupName('bench.c64.m300')
    const start = performance.now()
    const { columns } = context.archive!.scan([id])
    best = Math.min(best, (performance.now() - start) / 1000)
    found = columns.reduce((sum, { values }) => sum + values.length, 0)
    await context.close()
  }
  return `columnar scan of one metric: ${found} values in ${(best * 1000).toFixed(0)} ms, ${(bytes / best / 1e9).toFixed(2)} GB/s`
}
