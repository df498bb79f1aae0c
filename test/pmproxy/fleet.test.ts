/** /ui/api/fleet and /ui/api/fleet-range over archives of a few hosts. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FLEET_STATES, type FleetAnswer, type FleetRange } from '../../src/archive/fleet/answer.ts'
import { decodeFleetRange } from '../../src/archive/fleet/bytes.ts'
import { FIGURES, figureState, hostState, seenState } from '../../src/archive/fleet/figures.ts'
import { createArchive } from '../../src/archive.ts'
import { pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { Fleet, fleetGrid } from '../../src/pmproxy/fleet/fleet.ts'
import { ReadingTime } from '../../src/pmproxy/fleet/reading-time.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { FLEET_START, writeFleetHost } from '../lib/fleet-archives.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

let server: WebServer
let directory = ''
/** Time of the last sample of most hosts. */
const END = FLEET_START + 300

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fleet-'))
  const prod = { env: 'prod' }
  writeFleetHost(directory, { name: 'web1', labels: prod, samples: 31 })
  writeFleetHost(directory, { name: 'web2', labels: prod, samples: 31, busy: () => 0.97, full: 90 })
  writeFleetHost(directory, { name: 'old', labels: { env: 'test' }, samples: 10 })
  writeFleetHost(directory, {
    ...{ name: 'partial', samples: 31, without: ['filesys.full', 'hinv.ncpu'] },
    gap: { from: 10, to: 20 },
  })
  server = await startWebServer(['simple'], { archiveDirs: [directory] })
})

afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

const health = (at = END): Promise<FleetAnswer> => server.json(`/ui/api/fleet?at=${at}`)

async function values(parameters: string): Promise<FleetRange> {
  const { status, body, text } = await server.ask(`/ui/api/fleet-range?${parameters}`)
  if (status !== 200) throw new Error(text)
  return decodeFleetRange(new Uint8Array(body))
}

const WINDOW = `start=${FLEET_START}&finish=${END}&buckets=30`

test('hosts with labels, newest samples, figures and states', async () => {
  const { hosts, labels, span, figures, unread, unreadable } = await health()
  expect(hosts.key).toEqual(['old', 'partial', 'web1', 'web2'])
  expect(span).toEqual({ start: FLEET_START, end: END })
  expect([unread, unreadable]).toEqual([0, 0])
  expect(figures.map(({ id }) => id)).toEqual(['cpu', 'load', 'memory', 'disk', 'pressure'])
  const env = labels.find(({ name }) => name === 'env')!
  expect(env.of.map((index) => env.values[index])).toEqual(['test', undefined, 'prod', 'prod'])
  expect(hosts.last).toEqual([FLEET_START + 90, END, END, END])
  expect(hosts.every).toEqual([10, 10, 10, 10])
  expect(hosts.state.map((state) => FLEET_STATES[state])).toEqual(['stale', 'partial', 'partial', 'bad'])
  // Pressure is not recorded: unknown, never fine. A stale host has no current values.
  expect(hosts.values['cpu']).toEqual([null, 0.2, 0.2, 0.97])
  expect(hosts.values['load']).toEqual([null, null, 0.2, 0.97])
  expect(hosts.values['memory']).toEqual([null, 0.5, 0.5, 0.5])
  expect(hosts.values['disk']).toEqual([null, null, 0.4, 0.9])
  expect(hosts.values['pressure']).toEqual([null, null, null, null])
  expect(hosts.states['disk']!.map((state) => FLEET_STATES[state])).toEqual([
    ...['unknown', 'unknown', 'ok', 'warn'],
  ])
  expect(hosts.archives[2]).toEqual([['0/web1/day1', FLEET_START, END]])
})

test('an earlier time is judged by the samples until then', async () => {
  const { hosts } = await health(FLEET_START + 95)
  expect(hosts.last).toEqual([90, 90, 90, 90].map((after) => FLEET_START + after))
  expect(FLEET_STATES[hosts.state[0]!]).toBe('partial')
  const before = await health(FLEET_START - 1000)
  expect(before.hosts.last).toEqual([null, null, null, null])
  expect(before.hosts.state.map((state) => FLEET_STATES[state])).toEqual(Array(4).fill('unknown'))
})

test('a figure over all hosts, with gaps, quantiles and the highest hosts', async () => {
  const range = await values(`figure=cpu&${WINDOW}`)
  expect([range.start, range.step, range.buckets]).toEqual([FLEET_START, 10, 30])
  expect(range.hosts).toEqual(['old', 'partial', 'web1', 'web2'])
  expect([range.unit, range.title, range.without]).toEqual(['share', 'CPU', 0])
  const row = (i: number): (number | null)[] =>
    Array.from(range.cells.subarray(i * 30, (i + 1) * 30), (value) =>
      Number.isNaN(value) ? null : Number(value.toFixed(2)),
    )
  expect(row(0)).toEqual([...Array(9).fill(0.2), ...Array(21).fill(null)])
  expect(row(1)).toEqual([...Array(9).fill(0.2), ...Array(11).fill(null), ...Array(10).fill(0.2)])
  expect(row(3)).toEqual(Array(30).fill(0.97))
  expect(range.quantiles.count).toEqual([...Array(9).fill(4), ...Array(11).fill(2), ...Array(10).fill(3)])
  expect(range.quantiles.p50[25]).toBeCloseTo(0.2)
  expect(range.quantiles.max[25]).toBeCloseTo(0.97)
  expect(range.top.map(([key]) => key)).toEqual(['web2', 'old', 'partial', 'web1'])
})

test('a counter is a rate in its units, instances are combined or selected', async () => {
  const idle = await values(`metric=kernel.all.cpu.idle&${WINDOW}`)
  expect([idle.units, idle.sem, idle.aggregate]).toEqual(['none', 'rate', null])
  expect(idle.cells[2 * 30]).toBeCloseTo(3.2) // four CPUs, 80 % idle
  const full = await values(`metric=filesys.full&aggregate=max&${WINDOW}`)
  expect([full.aggregate, full.without, full.cells[2 * 30]]).toEqual(['max', 1, 40])
  expect((await values(`metric=filesys.full&${WINDOW}`)).cells[2 * 30]).toBe(30)
  const one = await values(`metric=filesys.full&instance=${encodeURIComponent('/dev/vdb1')}&${WINDOW}`)
  expect([one.title, one.cells[2 * 30]]).toEqual(['filesys.full /dev/vdb1', 20])
})

test('impossible requests are refused with their reason', async () => {
  const refused = async (parameters: string): Promise<string> =>
    (await server.ask(`/ui/api/fleet-range?${parameters}`)).text
  expect(await refused('')).toMatch(/metric=NAME or figure=ID/)
  expect(await refused('figure=tea')).toMatch(/cpu, load, memory, disk, pressure, not tea/)
  expect(await refused('metric=no.such')).toMatch(/No host has values of no\.such/)
  expect(await refused('metric=filesys.full&aggregate=median')).toMatch(/sum, mean, max, min/)
  expect(await refused('figure=cpu&start=5&finish=5')).toMatch(/finish must be after start/)
  expect(await refused('figure=cpu&buckets=1001')).toMatch(/up to 1000/)
  expect((await server.ask('/ui/api/fleet?at=noon')).text).toMatch(/at must be a time/)
})

/** Runs a test with a fleet over a new directory. */
async function withFleet(act: (dir: string, fleet: Fleet) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'fleet-own-'))
  const fleet = new Fleet([dir], () => archiveFiles())
  try {
    await act(dir, fleet)
  } finally {
    fleet.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
const ample = (): ReadingTime => new ReadingTime(new AbortController().signal, 60_000)
const window = { start: FLEET_START, finish: END }
const CPU = {
  name: 'cpu',
  isFigure: true,
  start: FLEET_START,
  step: 10,
  buckets: 30,
  top: 1,
  seesProcesses: false,
}

test('metrics of processes are for users who have identified themselves', () =>
  withFleet(async (dir, fleet) => {
    const made = createArchive(join(dir, 'a'), { hostname: 'a' })
    made.addMetric('proc.nprocs', { pmid: pmid(3, 8, 99), type: PM_TYPE_U64, sem: PM_SEM_INSTANT, units: '' })
    for (const sec of [0, 10, 20]) {
      made.put('proc.nprocs', 7)
      made.write({ sec: FLEET_START + sec, nsec: 0 })
    }
    made.close()
    const asked = { ...CPU, name: 'proc.nprocs', isFigure: false }
    await expect(fleet.range(asked, ample())).rejects.toThrow(/No host has values/)
    expect((await fleet.range({ ...asked, seesProcesses: true }, ample())).cells[0]).toBe(7)
    await expect(fleet.range(asked, ample())).rejects.toThrow(/No host has values/)
  }))

test('several archives of a host are one row, and their directory is opened', () =>
  withFleet(async (dir, fleet) => {
    writeFleetHost(dir, { name: 'db', samples: 11 })
    writeFleetHost(dir, { name: 'db', samples: 11, file: 'day2', start: FLEET_START + 200, busy: () => 0.5 })
    const { hosts } = await fleet.health(END, window, ample())
    expect(hosts.key).toEqual(['db'])
    expect(hosts.archives).toEqual([[['0/db', FLEET_START, END]]])
    const { cells } = await fleet.range(CPU, ample())
    expect(cells[5]).toBeCloseTo(0.2)
    expect(cells[15]).toBeNaN()
    expect(cells[25]).toBeCloseTo(0.5)
  }))

test('hosts with the same name but another machine are two', () =>
  withFleet(async (dir, fleet) => {
    for (const machineid of ['aaaaaaaa1', 'bbbbbbbb2'])
      writeFleetHost(dir, { name: 'localhost', file: machineid, labels: { machineid } })
    const { hosts } = await fleet.health(END, window, ample())
    expect(hosts.key).toEqual(['localhost aaaaaaaa', 'localhost bbbbbbbb'])
    expect(hosts.archives.map(([first]) => first![0])).toEqual(
      ['aaaaaaaa1', 'bbbbbbbb2'].map((file) => `0/localhost/${file}`),
    )
  }))

test('a metric with other units on some hosts is left out there', () =>
  withFleet(async (dir, fleet) => {
    for (const [name, units] of [
      ['a', 'Kbyte'],
      ['b', 'Mbyte'],
    ] as const) {
      const made = createArchive(join(dir, name), { hostname: name })
      const sem = name === 'a' ? PM_SEM_COUNTER : PM_SEM_INSTANT
      made.addMetric('demo.size', { pmid: pmid(77, 0, 1), type: PM_TYPE_U64, sem, units })
      for (const sec of [0, 10]) {
        made.put('demo.size', sec)
        made.write({ sec: FLEET_START + sec, nsec: 0 })
      }
      made.close()
    }
    const found = await fleet.range({ ...CPU, name: 'demo.size', isFigure: false }, ample())
    expect([found.without, found.units, found.quantiles.count[0]]).toEqual([1, 'Kbyte / sec', 1])
  }))

test('a grown archive and a new one are seen, a damaged one hides no other', () =>
  withFleet(async (dir, fleet) => {
    let now = 0
    const clock = (): number => now
    const own = new Fleet([dir], () => archiveFiles(), clock)
    const base = writeFleetHost(dir, { name: 'a', samples: 5 })
    expect((await own.health(END, window, ample())).hosts.last).toEqual([FLEET_START + 40])
    // The files of the longer archive replace those of the shorter one.
    const longer = writeFleetHost(dir, { name: 'a', samples: 20, file: 'longer' })
    for (const part of ['0', 'index', 'meta']) renameSync(`${longer}.${part}`, `${base}.${part}`)
    writeFleetHost(dir, { name: 'b', samples: 31 })
    expect((await own.health(END, window, ample())).hosts.key).toEqual(['a'])
    now = 3000
    const grown = await own.health(END, window, ample())
    expect([grown.hosts.key, grown.hosts.last]).toEqual([
      ['a', 'b'],
      [FLEET_START + 190, END],
    ])
    appendFileSync(`${base}.0`, Buffer.from('no record of an archive, but enough bytes'))
    writeFileSync(join(dir, 'c.meta'), 'no metadata')
    writeFileSync(join(dir, 'c.0'), 'no volume')
    now = 6000
    const damaged = await own.health(END, window, ample())
    expect([damaged.hosts.key, damaged.unreadable]).toEqual([['a', 'b'], 1])
    own.close()
    expect((await fleet.health(END, window, ample())).hosts.key).toEqual(['a', 'b'])
  }))

test('without time, hosts are announced as unread; the next request has them', () =>
  withFleet(async (dir, fleet) => {
    for (const name of ['a', 'b', 'c']) writeFleetHost(dir, { name })
    const none = new ReadingTime(new AbortController().signal, 0)
    expect(await fleet.health(END, window, none)).toMatchObject({ unread: 3, span: null })
    expect((await fleet.range(CPU, none)).unread).toBe(3)
    let steps = 0
    const few = new ReadingTime(new AbortController().signal, 4.5, () => steps++)
    expect((await fleet.range(CPU, few)).unread).toBeGreaterThan(0)
    expect(await fleet.range(CPU, ample())).toMatchObject({ unread: 0, hosts: ['a', 'b', 'c'] })
  }))

test('a client that leaves stops the reading', () =>
  withFleet(async (dir, fleet) => {
    writeFleetHost(dir, { name: 'a' })
    const gone = new ReadingTime(AbortSignal.abort(), 60_000)
    await expect(fleet.health(END, window, gone)).rejects.toThrow()
  }))

test('more hosts get fewer buckets', () => {
  const wanted = { start: 0, step: 10, buckets: 300 }
  expect(fleetGrid(wanted, 10_000)).toEqual(wanted)
  expect(fleetGrid(wanted, 20_000)).toEqual({ start: 0, step: 20, buckets: 150 })
})

test('rules: thresholds, late and stale hosts, the worst decides', () => {
  const [cpu] = FIGURES
  expect([0.84, 0.85, 0.95, Number.NaN].map((value) => figureState(cpu!, value))).toEqual([
    ...['ok', 'warn', 'bad', 'unknown'],
  ])
  // Whether a host is late depends on its interval.
  expect([30, 31, 120, 121].map((age) => seenState(1000 - age, 10, 1000))).toEqual([
    'ok',
    'warn',
    'warn',
    'stale',
  ])
  expect([180, 181, 601].map((age) => seenState(1000 - age, 60, 1000))).toEqual(['ok', 'warn', 'stale'])
  expect(seenState(undefined, undefined, 1000)).toBe('unknown')
  expect(hostState('ok', ['ok', 'ok'])).toBe('ok')
  expect(hostState('ok', ['ok', 'unknown'])).toBe('partial')
  expect(hostState('ok', ['unknown', 'unknown'])).toBe('unknown')
  expect(hostState('warn', ['ok'])).toBe('warn')
  expect(hostState('ok', ['unknown', 'bad', 'warn'])).toBe('bad')
  expect(hostState('stale', ['bad'])).toBe('stale')
})
