/** The store of live values. */
import { expect, test } from 'vitest'
import { LiveStore } from '../../src/ui/data/live-store.ts'

const metric = { pmid: '1.0.1', type: 'u32', sem: 'instant', units: 'none', indom: '1.1', help: '' } as const

test('a clock that is set back continues from there', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric }])
  store.instances(0, [1], ['one'])
  for (const time of [10, 11, 12]) store.row(time, [[time]])
  store.instances(0, [1, 2], ['one', 'two'])
  store.row(13, [[13, 113]])
  store.row(11.5, [[7, 107]])
  expect(store.lines('a.b')).toEqual([
    { instance: 'one', times: [10, 11, 11.5], values: [10, 11, 7] },
    { instance: 'two', times: [11.5], values: [107] },
  ])
  store.row(5, [[1, 2]])
  expect(store.span).toEqual({ start: 5, end: 5 })
})

test('rows missed while a host or pmproxy was away leave a gap', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric, indom: null, sem: 'counter' }])
  for (const time of [10, 11]) store.row(time, [[time]])
  store.trouble('The connection is lost')
  store.topic([{ name: 'a.b', ...metric, indom: null, sem: 'counter' }])
  for (const time of [101, 102]) store.row(time, [[time]])
  expect(store.lines('a.b')).toEqual([
    { instance: null, times: [10, 11, 56, 101, 102], values: [null, 1, null, null, 1] },
  ])
  expect(store.holes).toEqual([{ start: 11, end: 101 }])
})

test('very late rows leave a gap too; setting the clock back removes it', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
    4,
  )
  store.topic([{ name: 'a.b', ...metric, indom: null }])
  for (const time of [26, 30, 51]) store.row(time, [[time]])
  expect(store.lines('a.b')).toMatchObject([{ times: [26, 30, 40.5, 51], values: [26, 30, null, 51] }])
  expect(store.holes).toEqual([{ start: 30, end: 51 }])
  store.row(45, [[45]])
  expect(store.holes).toEqual([])
})

test('a few missed rows leave a gap, followed by a correct rate', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([
    { name: 'level', ...metric, indom: null },
    { name: 'count', ...metric, indom: null, sem: 'counter' },
  ])
  for (const time of [10, 11, 14, 15]) store.row(time, [[time], [2 * time]])
  expect(store.lines('level')).toMatchObject([
    { times: [10, 11, 12.5, 14, 15], values: [10, 11, null, 14, 15] },
  ])
  expect(store.lines('count')).toMatchObject([
    { times: [10, 11, 12.5, 14, 15], values: [null, 2, null, 2, 2] },
  ])
  expect(store.holes).toEqual([])
  store.row(13, [[13], [26]])
  expect(store.lines('level')).toMatchObject([{ times: [10, 11, 12, 13], values: [10, 11, null, 13] }])
})

test('a metric added later has values from then on', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  const [early, late] = ['early', 'late'].map((name) => ({ name, ...metric, indom: null }))
  store.topic([early!])
  for (const time of [10, 11]) store.row(time, [[time]])
  store.topic([early!, late!])
  expect(store.startOf('late')).toBeUndefined()
  for (const time of [12, 13]) store.row(time, [[time], [time]])
  expect([store.startOf('early'), store.startOf('late')]).toEqual([10, 12])
  store.topic([early!, late!, { name: 'silent', ...metric, indom: null }])
  store.row(14, [[14], [14], []])
  expect(store.startOf('silent')).toBe(14)
})

test('a metric of which only the newest values were kept can be backfilled', () => {
  let wanted = 3
  const store = new LiveStore(
    () => wanted,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric, indom: null }])
  for (let time = 10; time < 30; time++) store.row(time, [[time]])
  wanted = 100
  expect(store.startOf('a.b')).toBeGreaterThan(20)
})

test('rows that the server kept precede live ones, and fill what was missed while the connection was lost', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  const info = {
    name: 'a',
    pmid: '1.2.3',
    type: 'double',
    sem: 'instant',
    units: 'none',
    indom: null,
    help: '',
  }
  store.topic([info])
  for (const time of [10, 11, 12]) store.row(time, [[time]], true)
  store.row(13, [[13]])
  expect(store.lines('a')[0]).toMatchObject({ times: [10, 11, 12, 13], values: [10, 11, 12, 13] })
  store.trouble('lost')
  store.topic([info])
  for (const time of [12, 13, 14, 15]) store.row(time, [[10 * time]], true)
  store.row(16, [[16]])
  expect(store.lines('a')[0]).toMatchObject({
    times: [10, 11, 12, 13, 14, 15, 16],
    values: [10, 11, 12, 13, 140, 150, 16],
  })
  expect(store.holes).toEqual([])
})

test.each([
  [
    [10, 10.2],
    [10, 10.2],
    [null, 1],
  ],
  [
    [10, 10.2, 10.4],
    [10, 10.4],
    [null, 1],
  ],
  [
    [10, 10.2, 11, 12],
    [10, 11, 12],
    [null, 1, 1],
  ],
  [
    [10, 10.4, 11.4, 12.4],
    [10, 11.4, 12.4],
    [null, 1, 1],
  ],
])('rows at %j are shown at %j: a hastened one gives way to the next', (rows, times, values) => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric, indom: null, sem: 'counter' }])
  for (const time of rows) store.row(time, [[time]])
  const [line] = store.lines('a.b')
  expect(line!.times).toEqual(times)
  expect(line!.values.map((value) => value && Math.round(value * 1e6) / 1e6)).toEqual(values)
  expect(store.holes).toEqual([])
})

test('later rows stay, however late the one before was', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric, indom: null }])
  for (const time of [0, 1, 2.6, 3, 4]) store.row(time, [[time]])
  expect(store.lines('a.b')).toMatchObject([{ times: [0, 1, 2.6, 3, 4] }])
})

test('the row after a short loss stays', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  store.topic([{ name: 'a.b', ...metric, indom: null }])
  store.row(10, [[1]])
  store.trouble('The connection is lost')
  store.topic([{ name: 'a.b', ...metric, indom: null }])
  for (const time of [10.8, 11.8]) store.row(time, [[time]])
  expect(store.lines('a.b')).toMatchObject([{ times: [10, 10.4, 10.8, 11.8], values: [1, null, 10.8, 11.8] }])
  expect(store.holes).toEqual([{ start: 10, end: 10.8 }])
})

test('a hastened row stays as the first sample of new metrics; the others skip it', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  const [old, added] = ['old', 'added'].map((name) => ({
    ...metric,
    ...{ name, indom: null, sem: 'counter' as const },
  }))
  const rounded = (name: string): unknown =>
    store
      .lines(name)
      .map(({ times, values }) => [times, values.map((value) => value && Math.round(value * 1e6) / 1e6)])
  store.topic([old!])
  for (const time of [10, 11]) store.row(time, [[time]])
  store.topic([old!, added!])
  for (const time of [11.25, 11.5]) store.row(time, [[time], [2 * time]])
  expect(rounded('added')).toEqual([
    [
      [11.25, 11.5],
      [null, 2],
    ],
  ])
  expect(rounded('old')).toEqual([
    [
      [10, 11, 11.5],
      [null, 1, 1],
    ],
  ])
  for (const time of [12, 13]) store.row(time, [[time], [2 * time]])
  expect(rounded('added')).toEqual([
    [
      [11.25, 12, 13],
      [null, 2, 2],
    ],
  ])
  expect(rounded('old')).toEqual([
    [
      [10, 11, 12, 13],
      [null, 1, 1, 1],
    ],
  ])
  store.row(11.2, [[100], [100]])
  for (const time of [12.2, 13.2]) store.row(time, [[90 + time], [90 + 2 * time]])
  expect(rounded('old')).toMatchObject([[[10, 11, 11.2, 12.2, 13.2], expect.anything()]])
  expect(store.holes).toEqual([])
})

test('metrics that are back on the page get the rows that the server kept meanwhile', () => {
  const store = new LiveStore(
    () => 100,
    () => {},
  )
  const [stays, returns] = ['stays', 'returns'].map((name) => ({ name, ...metric, sem: 'counter' as const }))
  const row = (time: number, isPast: boolean, ids = [1]): void => {
    store.instances(1, ids, ids.map(String))
    store.row(time, [[time], ids.map((id) => id * time)], isPast)
  }
  store.topic([stays!])
  store.instances(0, [1], ['1'])
  for (const time of [10, 11, 12, 12.25, 13, 14]) store.row(time, [[time]])
  store.topic([stays!, returns!])
  // The first row is from before the page, 11.5 only of that list, and 12.25 only of the one meanwhile.
  for (const time of [9, 11, 11.5, 12]) row(time, true)
  for (const time of [13, 14]) row(time, true, [1, 2])
  expect(store.lines('returns')).toEqual([
    { instance: '1', times: [11, 12, 13, 14], values: [null, 1, 1, 1] },
    { instance: '2', times: [13, 14], values: [null, 2] },
  ])
  expect(store.startOf('returns')).toBe(11)
  row(15, true, [1, 2])
  row(16, false, [2])
  expect(store.lines('returns')).toEqual([
    { instance: '1', times: [11, 12, 13, 14, 15, 16], values: [null, 1, 1, 1, 1, null] },
    { instance: '2', times: [13, 14, 15, 16], values: [null, 2, 2, 2] },
  ])
  expect(store.lines('stays')[0]!.times).toEqual([10, 11, 12, 12.25, 13, 14, 15, 16])
  expect(store.holes).toEqual([])
})
