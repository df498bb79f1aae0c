/** The programmer's guide's example, recorded: rows from an archive equal the live ones. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_U32 } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'

const METRICS = { counter: PM_SEM_COUNTER, instant: PM_SEM_INSTANT, discrete: PM_SEM_DISCRETE } as const
const SAMPLES = [
  [1, 10],
  [3, 30],
  [5, 60],
  [7, 80],
  [9, 90],
] as const

function recorded(): ArchiveFiles {
  const output = memoryOutput('guide')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 7 })
  for (const [name, sem] of Object.entries(METRICS)) made.addMetric(name, { type: PM_TYPE_U32, sem })
  made.addMetric('other', { type: PM_TYPE_U32, sem: PM_SEM_INSTANT })
  for (const [sec, value] of SAMPLES) {
    for (const name of Object.keys(METRICS)) made.put(name, value)
    made.write({ sec, nsec: 0 })
  }
  made.put('other', 1)
  made.write({ sec: 11, nsec: 0 })
  made.close()
  const contents = output.contents()
  return {
    isDirectory: (path) => path === '.',
    list: () => [...contents.keys()].map((part) => `guide.${part}`),
    open: (path) => {
      const bytes = contents.get(path.replace(/^(\.\/)?guide\./, ''))
      if (bytes === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
      return bytesSource(bytes)
    },
  }
}

test('counters become rates, instantaneous values are unchanged, discrete ones hold, also from an archive', async () => {
  const context = await openArchive('guide', { files: recorded(), env: {} })
  const columns = { counter: 'counter', instant: 'instant', discrete: 'discrete' } as const
  const rows: unknown[] = []
  for await (const { time, values } of context.table(columns, { every: 2 }))
    rows.push([time.sec, values.counter, values.instant, values.discrete])
  expect(rows).toEqual([
    [1, undefined, 10, 10],
    [3, 10, 30, 30],
    [5, 15, 60, 60],
    [7, 10, 80, 80],
    [9, 5, 90, 90],
    [11, undefined, undefined, 90],
  ])
  await context.close()
})
