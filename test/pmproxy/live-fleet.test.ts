/** Health of collectors without archives: figures from live samples, dead hosts, limits, /ui/api/fleet-live. */
import { expect, test } from 'vitest'
import { FLEET_STATES, type FleetLiveAnswer } from '../../src/archive/fleet/answer.ts'
import { FIGURES, type Health, NEEDS } from '../../src/archive/fleet/figures.ts'
import { PcpError } from '../../src/model/errors.ts'
import { LiveFleet, type ReadHost } from '../../src/pmproxy/fleet/live-fleet.ts'
import { type LiveSample, LiveSamples, type LiveValues } from '../../src/pmproxy/fleet/live-samples.ts'
import { UNKNOWN } from '../../src/pmproxy/web-user.ts'
import { startWebServer } from '../lib/web-server.ts'

type ByInstance = Readonly<Record<number, number>>

/** Returns a sample with these metrics. */
function sample(time: number, values: Readonly<Record<string, number | ByInstance>>): LiveSample {
  return {
    time,
    values: NEEDS.map(({ name }): LiveValues | undefined => {
      const value = values[name]
      if (value === undefined) return undefined
      const pairs = Object.entries(typeof value === 'number' ? { '-1': value } : value)
      return {
        isCounter: /cpu|pressure/.test(name) && name !== 'hinv.ncpu',
        how: name === 'filesys.full' ? 'max' : 'mean',
        inst: Int32Array.from(pairs, ([inst]) => Number(inst)),
        values: Float64Array.from(pairs, ([, each]) => each),
      }
    }),
  }
}

/** A host with a busy share of its four CPUs. */
const busy = (time: number, share: number, full: ByInstance = { 1: 40, 2: 90 }): LiveSample =>
  sample(time, {
    'kernel.all.cpu.user': 4000 * share * time,
    'kernel.all.cpu.idle': 4000 * (1 - share) * time,
    ...{ 'kernel.all.cpu.sys': 0, 'kernel.all.cpu.wait.total': 0, 'hinv.ncpu': 4, 'kernel.all.load': 4 },
    ...{ 'mem.physmem': 8000, 'mem.util.available': 2000, 'filesys.full': full },
  })

const shown = ({ values, states }: Health): Record<string, unknown> =>
  Object.fromEntries(FIGURES.map(({ id }, i) => [id, [Number(values[i]!.toFixed(3)), states[i]]]))

test('figures are those of archives: means over samples, unknown without two', () => {
  const samples = new LiveSamples()
  samples.add(busy(1000, 0.9))
  expect(samples.health().states).toEqual(Array(5).fill('unknown'))
  samples.add(busy(1010, 0.9))
  expect(shown(samples.health())).toEqual({
    ...{ cpu: [0.9, 'warn'], load: [1, 'ok'], memory: [0.75, 'ok'], disk: [0.9, 'warn'] },
    pressure: [Number.NaN, 'unknown'],
  })
})

test('counters that were reset, instances that come and go, and clocks set back give no wrong value', () => {
  const samples = new LiveSamples()
  for (const time of [1000, 1010]) samples.add(busy(time, 0.5))
  samples.add({ ...busy(20, 0.5), time: 1020 }) // the host has booted
  expect(shown(samples.health())['cpu']).toEqual([0.5, 'ok'])
  samples.add(busy(1030, 0.5, { 3: 99 }))
  // The mean of a file system needs two samples.
  expect(shown(samples.health())['disk']).toEqual([0.9, 'warn'])
  samples.add(busy(500, 0.5))
  expect([samples.count, samples.health().states[0]]).toEqual([1, 'unknown'])
  for (let time = 501; time < 2000; time++) samples.add(busy(time, 0.5))
  expect(samples.count).toBe(100)
})

/** Returns a host's samples, one every ten seconds of its clock. */
function samplesOf(full?: ByInstance): () => LiveSample {
  let time = 1000
  return () => {
    time += 10
    return busy(time, 0.5, full)
  }
}

const NEVER = new Promise<never>(() => {})
const unreachable = (): never => {
  throw new PcpError('ECONNREFUSED', 'refused')
}

/** Returns a fleet that samples hosts by `reads`, with a clock moved by the test. */
function fleetOf(reads: (host: string) => Promise<LiveSample> | LiveSample): {
  readonly fleet: LiveFleet
  readonly asked: string[]
  readonly ask: (...hosts: string[]) => Promise<FleetLiveAnswer>
  readonly move: (sec: number) => void
} {
  let now = 1_000_000
  const asked: string[] = []
  const read: ReadHost = async (host) => {
    asked.push(host)
    return reads(host)
  }
  const fleet = new LiveFleet(read, { clock: () => now, nowMs: () => now, waitMs: 1 })
  return {
    ...{ fleet, asked },
    ask: (...hosts) => fleet.health(hosts, UNKNOWN),
    move(sec) {
      now += 1000 * sec
    },
  }
}
const statesOf = ({ hosts }: FleetLiveAnswer): unknown[] => hosts.map(({ state }) => FLEET_STATES[state])

test('a host that does not answer delays no other, and is tried less often', async () => {
  const answer = samplesOf()
  const { fleet, asked, ask, move } = fleetOf((host) =>
    host === 'dead' ? NEVER : host === 'refused' ? unreachable() : answer(),
  )
  const first = await ask('dead', 'refused', 'a')
  expect(statesOf(first)).toEqual(['unknown', 'unknown', 'unknown'])
  expect([first.unread, first.hosts[2]!.last]).toEqual([2, 1000])
  move(1)
  const second = await ask('dead', 'refused', 'a')
  expect(statesOf(second)).toEqual(['unknown', 'unknown', 'warn'])
  expect(second.hosts[2]!.values).toMatchObject({ cpu: 0.5, disk: 0.9, pressure: null })
  expect(asked).toEqual(['dead', 'refused', 'a', 'a'])
  move(60)
  await ask('refused')
  expect(asked.filter((host) => host === 'refused')).toHaveLength(2)
  move(10)
  await ask('refused')
  expect(asked.filter((host) => host === 'refused')).toHaveLength(2)
  fleet.close()
})

test('a host that no longer answers becomes late, then stale', async () => {
  let isAlive = true
  const answer = samplesOf({ 1: 10 })
  const { fleet, ask, move } = fleetOf(() => (isAlive ? answer() : unreachable()))
  await ask('a')
  move(1)
  expect(statesOf(await ask('a'))).toEqual(['partial'])
  isAlive = false
  move(31)
  expect(statesOf(await ask('a'))).toEqual(['warn'])
  move(90)
  const stale = await ask('a')
  expect(statesOf(stale)).toEqual(['stale'])
  expect(stale.hosts[0]!.values['cpu']).toBeNull()
  isAlive = true
  move(200)
  await ask('a')
  move(1)
  expect(statesOf(await ask('a'))).toEqual(['partial'])
  fleet.close()
})

test('eight hosts are sampled at the same time, a hundred in a request, and three hundred are kept', async () => {
  const { fleet, asked, ask } = fleetOf(() => NEVER)
  const hosts = Array.from({ length: 120 }, (_, i) => `h${i}`)
  const { leftOut, unread } = await ask(...hosts)
  expect([asked.length, unread, leftOut]).toEqual([8, 100, 20])
  // The rest waits; hosts beyond the limit are not even waited for.
  for (let round = 0; round < 5; round++) await ask(...hosts.map((host) => `${round}${host}`))
  expect(asked).toHaveLength(8)
  fleet.close()
})

test('the route answers for hosts that are reachable, allowed, and not', async () => {
  const server = await startWebServer(['simple'])
  try {
    const { hosts } = await server.json<FleetLiveAnswer>(
      `/ui/api/fleet-live?host=${encodeURIComponent('local:')}&host=elsewhere.example.com`,
    )
    // The agent has no metrics of the kernel.
    expect(hosts).toMatchObject([
      { host: 'local:', last: expect.any(Number), values: { cpu: null } },
      { host: 'elsewhere.example.com', last: null },
    ])
    expect(hosts.map(({ state }) => FLEET_STATES[state])).toEqual(['unknown', 'unknown'])
  } finally {
    await server.close()
  }
})
