/** Events of recordings, as the page finds them in an archive. */
import { describe, expect, it } from 'vitest'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_32, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { eventQuery, eventsIn } from '../../src/ui/annotations/events.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000
const HOUR = 3600

/** A sample: uptime and states of agents. */
interface Sample {
  readonly at: number
  readonly uptime: number
  readonly agents?: Readonly<Record<string, number>>
}

/** Opens an archive of these samples; times since START. */
function opened(samples: readonly Sample[]): LocalArchive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'made', timezone: 'UTC', pid: 1 })
  made.addMetric('kernel.all.uptime', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: 'sec' })
  made.addMetric('pmcd.agent.status', { type: PM_TYPE_32, sem: PM_SEM_DISCRETE, indom: 'agents' })
  for (const { at, uptime, agents = {} } of samples) {
    made.put('kernel.all.uptime', uptime)
    for (const [name, status] of Object.entries(agents)) made.put('pmcd.agent.status', status, name)
    made.write({ sec: START + at, nsec: 0 })
  }
  made.close()
  return new LocalArchive(
    'made',
    new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)),
  )
}

/** Returns the events of a window. */
async function events(archive: LocalArchive, from: number, to: number): Promise<unknown[]> {
  const query = eventQuery({ from: START + from, to: START + to })
  const found = eventsIn(decodeChartRange(await archive.range(query)))
  return found.map(({ kind, at, until, text }) => [
    kind,
    at - START,
    until === undefined ? undefined : until - START,
    text,
  ])
}

/** Samples of an undisturbed recording. */
const steady = (length: number, step: number): Sample[] =>
  Array.from({ length: length / step + 1 }, (_, i) => ({ at: i * step, uptime: 5000 + i * step }))

describe('lost agents', () => {
  const samples = steady(4 * HOUR, 10).map((sample) => ({
    ...sample,
    agents: { linux: 0, proc: sample.at < HOUR || sample.at >= 2 * HOUR ? 0 : 2 | (9 << 16) },
  }))
  const lost = ['agent', HOUR, 2 * HOUR, 'Agent proc has ended (killed by signal 9)']

  it('are named with their recovery', async () => {
    expect(await events(opened(samples), 0, 2.5 * HOUR)).toEqual([lost])
  })

  it('are named where several samples are one point', async () => {
    const [[kind, at, until, text] = []] = (await events(opened(samples), 0, 4 * HOUR)) as (typeof lost)[]
    expect([kind, text]).toEqual([lost[0], lost[3]])
    const point = (4 * HOUR) / 1000
    expect(Math.abs(Number(at) - HOUR)).toBeLessThan(2 * point)
    expect(Math.abs(Number(until) - 2 * HOUR)).toBeLessThan(2 * point)
  })

  it('work again in a window that begins when they are lost', async () => {
    expect(await events(opened(samples), 1.5 * HOUR, 2.5 * HOUR)).toEqual([
      ['agent', 2 * HOUR, undefined, 'Agent proc works again'],
    ])
  })
})
