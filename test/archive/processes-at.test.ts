/** The processes of an instant, read from an archive in memory as the page's worker does. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000
const HOT = indom(3, 39)

interface Written {
  readonly at: number
  readonly pids: readonly number[]
}

/** An archive with samples of hot processes, and a mark before each undefined one. */
function opened(samples: readonly (Written | undefined)[]): LocalArchive {
  const output = memoryOutput('a')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 1, version: 3 })
  made.addMetric('hinv.ncpu', { pmid: pmid(60, 0, 32), type: PM_TYPE_U32, sem: PM_SEM_INSTANT })
  const of = { indom: HOT, sem: PM_SEM_COUNTER, type: PM_TYPE_U32 }
  made.addMetric('hotproc.psinfo.utime', { ...of, pmid: pmid(3, 52, 13), units: 'millisec' })
  made.addMetric('hotproc.psinfo.psargs', {
    ...{ indom: HOT, sem: PM_SEM_INSTANT, type: PM_TYPE_STRING },
    pmid: pmid(3, 52, 41),
  })
  for (const sample of samples) {
    if (sample === undefined) {
      made.mark()
      continue
    }
    // Other metrics have separate records, a little earlier.
    made.put('hinv.ncpu', 2)
    made.write({ sec: START + sample.at, nsec: 0 })
    for (const pid of sample.pids) {
      made.put('hotproc.psinfo.utime', 10 * sample.at, `00000${pid} prog`)
      made.put('hotproc.psinfo.psargs', `prog --at ${sample.at}`, `00000${pid} prog`)
    }
    made.write({ sec: START + sample.at, nsec: 5_000_000 })
  }
  made.close()
  return new LocalArchive('a', new Map([...output.contents()].map(([part, bytes]) => [`a.${part}`, bytes])))
}

test('the nearest sample is read, with the one before and the newest', async () => {
  const archive = opened([0, 10, 20, 30].map((at) => ({ at, pids: at < 25 ? [1, 2] : [2] })))
  for (const at of [19, 20, 20.005, 24]) {
    const { sample, before, newest } = await archive.processes(START + at)
    expect(sample).toMatchObject({ at: START + 20.005, family: 'hotproc' })
    expect(sample!.names).toEqual(['000001 prog', '000002 prog'])
    expect(sample!.columns['psinfo.psargs']).toEqual(['prog --at 20', 'prog --at 20'])
    expect(before).toMatchObject({ at: START + 10.005, columns: { 'psinfo.utime': [100, 100] } })
    expect(before!.columns['psinfo.psargs']).toBeUndefined()
    expect(newest).toMatchObject({ at: START + 30.005 })
    expect(newest!.pids).toHaveLength(1)
  }
  expect((await archive.processes(START - 100)).sample!.at).toBe(START + 0.005)
})

test('samples before an interruption, or far from the time, are left out', async () => {
  const archive = opened([{ at: 0, pids: [1] }, undefined, { at: 10, pids: [1] }])
  const { sample, before } = await archive.processes(START + 10)
  expect(sample!.at).toBe(START + 10.005)
  expect(before).toBeNull()
  expect(await archive.processes(START + 3600)).toEqual({ sample: null, before: null, newest: null })
})

test('an archive without processes has none', async () => {
  expect(
    (
      await opened([
        { at: 0, pids: [] },
        { at: 10, pids: [] },
      ]).processes(START)
    ).sample,
  ).toBeNull()
})
