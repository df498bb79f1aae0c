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

/** Opens archives of these samples as one; times since START. */
function opened(...archives: readonly (readonly Sample[])[]): LocalArchive {
  const files = archives.flatMap((samples, i) => filesOf(`made${i}`, samples))
  return new LocalArchive(archives.map((_, i) => `made${i}`).join(','), new Map(files))
}

function filesOf(base: string, samples: readonly Sample[]): (readonly [name: string, Uint8Array])[] {
  const output = memoryOutput(base)
  const made = new ArchiveImport(output, { hostname: 'made', timezone: 'UTC', pid: 1 })
  made.addMetric('kernel.all.uptime', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, units: 'sec' })
  made.addMetric('pmcd.agent.status', { type: PM_TYPE_32, sem: PM_SEM_DISCRETE, indom: 'agents' })
  for (const { at, uptime, agents = {} } of samples) {
    made.put('kernel.all.uptime', uptime)
    for (const [name, status] of Object.entries(agents)) made.put('pmcd.agent.status', status, name)
    made.write({ sec: START + at, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => [`${base}.${part}`, bytes] as const)
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

describe('steps of the clock', () => {
  /** One recording with the clock set by `step` after an hour; with `divided`, in a new archive from then on. */
  const stepped = (step: number, { every = 10, divided = true } = {}): LocalArchive => {
    const samples = steady(4 * HOUR, every).map(({ at, uptime }) => ({
      at: at < HOUR ? at : at + step,
      uptime,
    }))
    const first = samples.slice(0, HOUR / every)
    const rest = samples.slice(HOUR / every)
    return divided ? opened(first, rest) : opened([...first, ...rest])
  }
  const steps = async (archive: LocalArchive, to: number): Promise<unknown[]> =>
    (await events(archive, 0, to)).filter((event) => (event as unknown[])[0] !== 'gap')

  it.each([
    ['forward', 600, true],
    ['forward', 600, false],
    ['back', -600, true],
  ] as const)('%s by %i s are found, in separate archives: %s', async (direction, step, divided) => {
    const expected = [['clock', expect.any(Number), undefined, `The clock was set ${direction} by 10 min`]]
    // Every sample is a point, and several are.
    for (const [every, to] of [
      [60, 5 * HOUR],
      [10, 5 * HOUR],
    ] as const) {
      const found = await steps(stepped(step, { every, divided }), to)
      expect(found).toEqual(expected)
      expect(Math.abs(Number((found[0] as unknown[])[1]) - HOUR)).toBeLessThanOrEqual(Math.abs(step) + 60)
    }
  })

  it('are not found at a reboot, where several samples are one point or not', async () => {
    for (const bootAt of [HOUR + 5, HOUR + 17, HOUR + 40])
      for (const to of [HOUR * 2, HOUR * 5]) {
        const samples = steady(4 * HOUR, 10).map(({ at, uptime }) => ({
          at,
          uptime: at < bootAt ? uptime : at - bootAt,
        }))
        const kinds = (await steps(opened(samples), to)).map((event) => (event as unknown[])[0])
        expect(kinds).toEqual(['reboot'])
      }
  })
})
