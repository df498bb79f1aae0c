/** The made-up processes of benchmarks and of pictures of the page. */
import { expect, test } from 'vitest'
import { processDay } from '../../bench/macro/lib/process-day.ts'
import type { ArchiveImport } from '../../src/archive/import/archive-import.ts'

test('use at most a CPU and 4 GiB together, as the host that they are shown on', () => {
  const names: string[] = []
  const records: Map<string, number>[] = []
  const made = {
    addMetric: (name: string) => names.push(name) - 1,
    addInstance: () => {},
    put(id: number, value: number | string) {
      if (typeof value !== 'number') return
      const record = records.at(-1)!
      record.set(names[id]!, (record.get(names[id]!) ?? 0) + value)
    },
  } as unknown as ArchiveImport
  const put = processDay(made)
  const seconds = Array.from({ length: 360 }, (_, i) => 10 * (i + 1))
  for (const at of seconds) {
    records.push(new Map())
    put(at)
  }
  const sum = (record: Map<string, number>, ...items: string[]): number =>
    items.reduce((total, item) => total + record.get(`hotproc.${item}`)!, 0)
  const cpus = records.map((record, i) => sum(record, 'psinfo.utime', 'psinfo.stime') / 1000 / seconds[i]!)
  expect(Math.max(...cpus)).toBeLessThan(1.05)
  expect(Math.max(...records.map((record) => sum(record, 'psinfo.rss') / 1024 ** 2))).toBeLessThan(4)
})
