/** The fleet on the page: rows, requests, addresses, pixels. */
import { expect, test } from 'vitest'
import { FLEET_STATES, type FleetAnswer, type FleetRange } from '../../src/archive/fleet/answer.ts'
import { FLEET_DEFAULTS, fromFleetFragment, toFleetFragment } from '../../src/ui/fleet/address.ts'
import { FleetFeed, type FleetPorts, type FleetRequest } from '../../src/ui/fleet/feed.ts'
import {
  cellOf,
  heatLines,
  heatPixels,
  highestOfLine,
  hostsOfLine,
  readingOf,
} from '../../src/ui/fleet/heat-image.ts'
import { LiveHealthFeed } from '../../src/ui/fleet/live-feed.ts'
import {
  archiveAt,
  countStates,
  facetsOf,
  filtered,
  grouped,
  hasTerm,
  liveRows,
  rowsOf,
  sorted,
  toggled,
} from '../../src/ui/fleet/rows.ts'
import { rowWindow } from '../../src/ui/fleet/window-of-rows.ts'

const of = (state: (typeof FLEET_STATES)[number]): number => FLEET_STATES.indexOf(state)

const ANSWER: FleetAnswer = {
  ...{ at: 1000, span: { start: 0, end: 1000 }, meanSec: 300, unread: 0, leftOut: 0, unreadable: 0 },
  seen: { rule: '', lateIntervals: 3, lateSec: 30, staleIntervals: 10, staleSec: 120 },
  figures: [{ id: 'cpu', title: 'CPU', rule: '', unit: 'share', warn: 0.85, bad: 0.95 }],
  labels: [
    { name: 'env', values: ['prod', 'test'], of: [0, 1, 0, -1] },
    { name: 'rack', values: ['row 7'], of: [0, -1, -1, -1] },
    { name: 'hostname', values: ['a', 'b', 'c', 'd'], of: [0, 1, 2, 3] },
  ],
  hosts: {
    key: ['a', 'b', 'c', 'd'],
    name: ['a', 'b', 'c', 'd'],
    last: [1000, 990, 500, null],
    every: [10, 10, 10, null],
    state: [of('ok'), of('bad'), of('stale'), of('unknown')],
    archives: [
      [
        ['0/a/1', 0, 400],
        ['0/a/2', 450, 1000],
      ],
      [],
      [],
      [],
    ],
    values: { cpu: [0.2, 0.97, null, null] },
    states: { cpu: [of('ok'), of('bad'), of('unknown'), of('unknown')] },
  },
}
const ROWS = rowsOf(ANSWER)
const keys = (rows: readonly { key: string }[]): string => rows.map(({ key }) => key).join('')

test('filters by text, label, absence of a label, and state', () => {
  const found = (filter: string): string => keys(filtered(ROWS, filter))
  expect(found('')).toBe('abcd')
  expect(found('env=prod')).toBe('ac')
  expect(found('env!=prod')).toBe('bd')
  expect(found('ENV=prod')).toBe('')
  expect(found('env=PROD a')).toBe('a')
  expect(found('state=critical')).toBe('b')
  expect(found('rack="row 7"')).toBe('a')
  expect(found('"row 7"')).toBe('a')
  expect(found('es')).toBe('b')
  expect(found('"')).toBe('abcd')
})

test('terms of a filter are added and removed', () => {
  expect(toggled('web', 'env', 'prod')).toBe('web env=prod')
  expect(toggled('web env=prod', 'env', 'prod')).toBe('web')
  expect(toggled('', 'rack', 'row 7')).toBe('rack="row 7"')
  expect(hasTerm('x rack="row 7"', 'rack', 'row 7')).toBe(true)
  expect(hasTerm('env=prod2', 'env', 'prod')).toBe(false)
})

test('sorts with unknown values last in both directions', () => {
  const by = (column: string, isDescending: boolean): string =>
    keys(sorted(ROWS, { column, isDescending }, new Map([['d', 3]])))
  expect(by('cpu', true)).toBe('bacd')
  expect(by('cpu', false)).toBe('abcd')
  expect(by('state', true)).toBe('bcda')
  expect(by('last', false)).toBe('cbad')
  expect(by('name', true)).toBe('dcba')
  expect(by('metric', true)).toBe('dabc')
})

test('groups by label, hosts without it last', () => {
  const items = grouped(ROWS, 'env').map((item) => (item.kind === 'group' ? item.title : item.row.key))
  expect(items).toEqual(['env=prod', 'a', 'c', 'env=test', 'b', 'without env', 'd'])
  expect(countStates(ROWS)).toEqual([
    ['bad', 1],
    ['stale', 1],
    ['unknown', 1],
    ['ok', 1],
  ])
  expect(facetsOf(ANSWER)).toEqual([
    ['env', ['prod', 'test']],
    ['rack', ['row 7']],
  ])
})

test('opens the archive of a time', () => {
  const id = (at: number): string | undefined => archiveAt(ROWS[0]!, at)?.[0]
  expect([-5, 100, 420, 2000].map(id)).toEqual(['0/a/1', '0/a/1', '0/a/1', '0/a/2'])
  expect(archiveAt(ROWS[1]!, 100)).toBeUndefined()
})

test('collectors without archives are hosts of which nothing is known', () => {
  const found = liveRows(ROWS, [
    { key: 'host:local:', host: 'a' },
    { key: 'host:db9', host: 'db9' },
    { key: 'archive:0/x', host: 'x' },
  ])
  expect(found).toMatchObject([{ key: 'db9', state: 'unknown', last: null, source: 'host:db9' }])
  expect(keys(sorted([...ROWS, ...found], { column: 'cpu', isDescending: true }, new Map()))).toBe('bacddb9')
})

test('a collector without archives has the health of its live values', () => {
  const host = {
    host: 'db9',
    last: 1005,
    state: of('warn'),
    values: { cpu: 0.9 },
    states: { cpu: of('warn') },
  }
  const [row] = liveRows(ROWS, [{ key: 'host:db9', host: 'db9.example.com' }], new Map([['db9', host]]))
  expect(row).toMatchObject({
    ...{ key: 'db9.example.com', state: 'warn', last: 1005, values: { cpu: 0.9 }, states: { cpu: 'warn' } },
    source: 'host:db9',
  })
})

test('live health is requested again, sooner if samples are missing, and only for the hosts that are shown', async () => {
  const asked: string[] = []
  const known: number[] = []
  const planned: { act: () => void; ms: number }[] = []
  const answers = [1, 0]
  const feed = new LiveHealthFeed({
    async ask(hosts) {
      asked.push(hosts.join())
      const unread = answers.shift()
      if (unread === undefined) throw new Error('gone')
      const live = { last: 1, state: 0, values: {}, states: {} }
      return { hosts: hosts.map((host) => ({ host, ...live })), unread, leftOut: 0 }
    },
    onHealth: (hosts) => known.push(hosts.length),
    later(act, ms) {
      const plan = { act, ms }
      planned.push(plan)
      return () => planned.splice(planned.indexOf(plan), 1)
    },
  })
  const step = async (): Promise<number> => {
    const { act, ms } = planned.shift()!
    act()
    // The answer arrives in a later task.
    await new Promise((resolve) => setTimeout(resolve, 0))
    return ms
  }
  feed.watch(['a', 'b'])
  feed.watch(['a', 'b'])
  expect(planned).toHaveLength(1)
  expect([await step(), await step(), await step(), planned[0]!.ms]).toEqual([0, 1000, 10_000, 10_000])
  expect([asked, known]).toEqual([Array(3).fill('a,b'), [2, 2, 0]])
  feed.watch([])
  expect([planned, known.at(-1)]).toEqual([[], 0])
})

test('only rows around the visible ones are drawn', () => {
  expect(rowWindow(1000, 32, 0, 640)).toEqual({ first: 0, end: 30, above: 0, below: 31_040 })
  const { first, end, above, below } = rowWindow(1000, 32, 16_000, 640)
  expect([first, end, above + below + 32 * (end - first)]).toEqual([490, 530, 32_000])
  expect(rowWindow(1000, 32, 99_999, 640).end).toBe(1000)
  // A filter has made the list shorter than the scroll position.
  expect(rowWindow(3, 32, 5000, 640)).toEqual({ first: 0, end: 3, above: 0, below: 0 })
})

test('an address keeps filter, group, order and metric', () => {
  expect(toFleetFragment(FLEET_DEFAULTS)).toBe('#fleet')
  expect(fromFleetFragment('#fleet')).toMatchObject(FLEET_DEFAULTS)
  const own = {
    ...{ filter: 'env=prod "a b"', group: 'rack', order: { column: 'cpu', isDescending: true } },
    metric: { metric: 'kernel.all.load', instance: '1 minute', aggregate: undefined },
  }
  expect(fromFleetFragment(toFleetFragment(own))).toEqual(own)
  const upwards = { ...FLEET_DEFAULTS, order: { column: 'state', isDescending: false } }
  expect(fromFleetFragment(toFleetFragment(upwards)).order).toEqual(upwards.order)
})

test('a heat map with more hosts than lines shows the highest of each line', () => {
  const cells = Float32Array.of(1, Number.NaN, 9, 4, Number.NaN, Number.NaN)
  const matrix = { cells, buckets: 2 }
  const rows = [0, 1, 2]
  expect([heatLines(3, 2.9), heatLines(3, 100), heatLines(0, 100)]).toEqual([2, 3, 1])
  expect([hostsOfLine(0, 2, 3), hostsOfLine(1, 2, 3)]).toEqual([
    [0, 1],
    [1, 3],
  ])
  expect(highestOfLine(matrix, rows, 1, 2, 0)).toEqual({ host: 1, bucket: 0 })
  expect(highestOfLine(matrix, rows, 0, 2, 1)).toBeUndefined()
  const pixels = heatPixels(
    matrix,
    rows,
    2,
    [0, 9],
    [
      [0, 0, 0],
      [255, 0, 0],
    ],
  )
  expect([...pixels]).toEqual([0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255])
})

test('a reading of the heat map stays with its host and time when hosts change places and the window moves', () => {
  const range = { start: 1000, step: 10, buckets: 6 }
  const [a, b] = [{ key: 'a' }, { key: 'b' }]
  const reading = readingOf(range, [a, b], { host: 1, bucket: 2 })
  expect(reading).toEqual({ key: 'b', at: 1025 })
  expect(cellOf(range, [b, a], reading)).toEqual({ host: 0, bucket: 2 })
  expect(cellOf({ ...range, start: 1020 }, [a, b], reading)).toEqual({ host: 1, bucket: 0 })
  expect(cellOf({ ...range, start: 1030 }, [a, b], reading)).toBeUndefined()
  expect(cellOf({ ...range, start: 960 }, [a, b], reading)).toBeUndefined()
  expect(cellOf(range, [a], reading)).toBeUndefined()
})

/** A feed with a clock that the test moves. */
function feedWith(answers: Partial<Pick<FleetPorts, 'health' | 'range'>> = {}) {
  const calls: string[] = []
  const signals: AbortSignal[] = []
  let timer: { readonly act: () => void; readonly ms: number } | undefined
  const feed = new FleetFeed({
    async health(request, signal) {
      signals.push(signal)
      calls.push(`health ${request.to}`)
      return (await answers.health?.(request, signal)) ?? ANSWER
    },
    async range(request, signal) {
      return (await answers.range?.(request, signal)) ?? ({ unread: 0 } as FleetRange)
    },
    onHealth: () => calls.push('answer'),
    onRange: () => {},
    onProblem: (which, text) => text !== undefined && calls.push(`${which}: ${text}`),
    onBusy: () => {},
    later(act, ms) {
      const own = { act, ms }
      timer = own
      return () => {
        if (timer === own) timer = undefined
      }
    },
  })
  return {
    ...{ feed, calls, signals },
    wait: () => timer?.ms,
    /** Lets the time pass, and the answers arrive. */
    async turn() {
      const due = timer
      timer = undefined
      due?.act()
      await new Promise((resolve) => setTimeout(resolve))
    },
  }
}
const REQUEST: FleetRequest = { from: 0, to: 60, metric: { figure: 'cpu' }, isMoving: false }

test('passing time is requested every ten seconds, a change soon, and the older request is aborted', async () => {
  const { feed, calls, signals, wait, turn } = feedWith()
  feed.show({ ...REQUEST, isMoving: true })
  expect(wait()).toBe(0)
  await turn()
  expect([calls, wait()]).toEqual([['health 60', 'answer'], 10_000])
  feed.show({ ...REQUEST, from: 1, to: 61, isMoving: true })
  expect(wait()).toBe(10_000)
  feed.show({ ...REQUEST, from: 1, to: 61, isMoving: true, metric: { figure: 'disk' } })
  expect(wait()).toBe(200)
  await turn()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  feed.close()
  expect([wait(), signals.at(-1)!.aborted]).toEqual([undefined, true])
})

test('hosts that were not read are requested again, until all are there', async () => {
  let unread = 2
  const { feed, wait, turn } = feedWith({ health: async () => ({ ...ANSWER, unread: --unread }) })
  feed.show(REQUEST)
  await turn()
  expect(wait()).toBe(100)
  await turn()
  expect(wait()).toBeUndefined()
})

test('a failure is reported, and tried again', async () => {
  const { feed, calls, wait, turn } = feedWith({ range: () => Promise.reject(new Error('no such metric')) })
  feed.show(REQUEST)
  await turn()
  expect(calls).toContain('range: no such metric')
  expect(calls).toContain('answer')
  expect(wait()).toBe(10_000)
})
