/** The example rules of the page fire in trouble, and only then. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import { EXAMPLES } from '../../src/ui/rules/examples.ts'

const START = 1_700_000_000

/** Writes two CPUs, a disk and memory for ten minutes, with trouble from the fourth to the seventh. */
function written(): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  const counter = { type: PM_TYPE_U64, sem: PM_SEM_COUNTER }
  made.addMetric('kernel.all.cpu.idle', { ...counter, units: 'ms' })
  made.addMetric('hinv.ncpu', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
  for (const way of ['read', 'write']) {
    made.addMetric(`disk.dev.${way}`, { ...counter, units: 'count', indom: 'disks' })
    made.addMetric(`disk.dev.${way}_rawactive`, { ...counter, units: 'ms', indom: 'disks' })
  }
  made.addMetric('mem.util.available', { type: PM_TYPE_U64, units: 'Kbyte' })
  made.addMetric('mem.physmem', { type: PM_TYPE_U64, sem: PM_SEM_DISCRETE, units: 'Kbyte' })
  let [idle, active] = [0, 0]
  for (let n = 0; n <= 60; n++) {
    const isTrouble = n > 24 && n <= 42
    idle += isTrouble ? 1000 : 15_000
    active += isTrouble ? 9000 : 100
    if (n === 0) {
      made.put('hinv.ncpu', 2)
      made.put('mem.physmem', 8_000_000)
    }
    made.put('kernel.all.cpu.idle', idle)
    for (const way of ['read', 'write']) {
      made.put(`disk.dev.${way}`, n * 100, 'sda')
      made.put(`disk.dev.${way}_rawactive`, active, 'sda')
    }
    made.put('mem.util.available', isTrouble ? 200_000 : 4_000_000)
    made.write({ sec: START + 10 * n, nsec: 0 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

const MESSAGES: Readonly<Record<string, string>> = {
  'CPU busy': 'CPU busy, idle share 0.05',
  'Disk slow': 'Slow disk: sda, 0.09 s a request ',
  'Memory low': 'Memory low, available share 0.025',
}

test.each(EXAMPLES)('%s', async (name, text) => {
  const archive = new LocalArchive('made', written())
  const { rules, problems } = await archive.firings({ text, deltaSec: 10 })
  expect(problems).toEqual([])
  expect(rules).toHaveLength(1)
  const { spans } = rules[0]!
  expect(spans).toHaveLength(1)
  expect(spans[0]).toMatchObject({ from: START + 250, to: START + 420, count: 1 })
  expect(spans[0]!.message).toBe(MESSAGES[name])
})
