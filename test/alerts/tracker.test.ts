/** Alerts from evaluations: beginning, end, values around the threshold, restarts, bounds. */
import { expect, test } from 'vitest'
import { type Alert, alertLine, readAlerts } from '../../src/alerts/events.ts'
import { AlertTracker, alertTimes, CLEAR_SEC, RESUME_SEC } from '../../src/alerts/tracker.ts'

function tracked(
  active: readonly Alert[] = [],
  sec = 0,
): { readonly tracker: AlertTracker; readonly seen: Alert[] } {
  const seen: Alert[] = []
  const tracker = new AlertTracker(
    {
      ...{ active, activeSec: sec - 50, isDefault: true },
      onAlert: (alert) => seen.push(alert),
      isLow: (rule) => rule === 'memory.low',
      timesOf: (rule) => (rule === 'slow' ? alertTimes(300, 6) : alertTimes(10, 30)),
    },
    sec,
  )
  return { tracker, seen }
}

const ALL = (): boolean => true

test('an alert begins with its rule and ends when the rule was true last', () => {
  const { tracker, seen } = tracked()
  tracker.fired('disk.slow', [{ instance: 'sda', value: 120 }], 10)
  tracker.fired('disk.slow', [{ instance: 'sda', value: 300 }], 20)
  tracker.fired('disk.slow', [{ instance: 'sda', value: 110 }], 30)
  tracker.clear(ALL, 30 + CLEAR_SEC - 1)
  expect(seen).toEqual([
    { rule: 'disk.slow', isDefault: true, instance: 'sda', at: 10, until: null, value: 120 },
  ])
  tracker.clear(ALL, 30 + CLEAR_SEC)
  expect(seen[1]).toEqual({
    rule: 'disk.slow',
    isDefault: true,
    instance: 'sda',
    at: 10,
    until: 30,
    value: 300,
  })
  expect(tracker.active).toEqual([])
})

test('a rule that is false for a short time is one alert; instances have their own', () => {
  const { tracker, seen } = tracked()
  for (let sec = 0; sec < 1000; sec += CLEAR_SEC / 2) {
    tracker.fired(
      'disk.slow',
      [{ instance: 'sda', value: 1 }, ...(sec === 0 ? [{ instance: 'sdb', value: 2 }] : [])],
      sec,
    )
    tracker.clear(ALL, sec)
  }
  expect(seen.map(({ instance, until }) => [instance, until])).toEqual([
    ['sda', null],
    ['sdb', null],
    ['sdb', 0],
  ])
})

test('the worst value of some rules is the lowest', () => {
  const { tracker, seen } = tracked()
  for (const [sec, value] of [
    [0, 4],
    [10, 2],
    [20, 3],
    [30, null],
  ] as const)
    tracker.fired('memory.low', [{ instance: '', value }], sec)
  tracker.clear(ALL, 30 + CLEAR_SEC)
  expect(seen.at(-1)!.value).toBe(2)
})

test('alerts of before a restart continue, or end after the time that rules need', () => {
  const old = (rule: string): Alert => ({ rule, isDefault: true, instance: '', at: 5, until: null, value: 1 })
  const { tracker, seen } = tracked([old('a'), old('b')], 1000)
  tracker.clear(ALL, 1000 + RESUME_SEC - 1)
  tracker.fired('a', [{ instance: '', value: 2 }], 1000 + RESUME_SEC - 1)
  tracker.clear(ALL, 1000 + RESUME_SEC)
  expect(seen).toEqual([{ ...old('b'), until: 950 }])
  expect(tracker.active).toEqual([{ ...old('a'), value: 2 }])
})

test('alerts of a rule with long intervals last for two of them, and after a restart for all its samples', () => {
  const { tracker, seen } = tracked()
  tracker.fired('slow', [{ instance: '', value: 1 }], 0)
  tracker.clear(ALL, 599)
  expect(seen).toHaveLength(1)
  tracker.clear(ALL, 600)
  expect(seen[1]).toMatchObject({ rule: 'slow', until: 0 })
  const next = tracked([seen[0]!], 700)
  next.tracker.clear(ALL, 700 + 7 * 300 - 1)
  expect(next.seen).toEqual([])
  next.tracker.clear(ALL, 700 + 7 * 300)
  expect(next.seen).toEqual([{ ...seen[0], until: 650 }])
})

test('alerts outlast an interruption of the evaluation of their rules', () => {
  const { tracker, seen } = tracked()
  tracker.fired('a', [{ instance: '', value: 1 }], 0)
  tracker.fired('b', [{ instance: '', value: 1 }], 0)
  tracker.interrupted((rule) => rule === 'a', 100)
  tracker.clear(ALL, 100 + RESUME_SEC - 1)
  expect(tracker.active.map(({ rule }) => rule)).toEqual(['a'])
  tracker.clear((rule) => rule === 'b', 100 + RESUME_SEC)
  expect(tracker.active).toHaveLength(1)
  tracker.clear(ALL, 100 + RESUME_SEC)
  expect(seen.at(-1)).toMatchObject({ rule: 'a', until: 0 })
})

test('a clock that is set back ends alerts, never before they began', () => {
  const { tracker, seen } = tracked()
  tracker.fired('a', [{ instance: '', value: 1 }], 5000)
  tracker.clear(ALL, 100)
  expect(seen.at(-1)).toMatchObject({ at: 5000, until: 5000 })
})

test('a rule has a bounded number of alerts', () => {
  const { tracker, seen } = tracked()
  const many = Array.from({ length: 5000 }, (_, i) => ({ instance: `disk${i}`, value: i }))
  tracker.fired('disk.slow', many, 0)
  tracker.fired('cpu.busy', [{ instance: '', value: 1 }], 0)
  expect(seen).toHaveLength(51)
})

test('lines of the log are read back; damaged ones and long names are bounded', () => {
  const begin: Alert = { rule: 'a', isDefault: true, instance: '<b>"\n', at: 1.5, until: null, value: null }
  const end: Alert = { ...begin, until: 9, value: 3 }
  const other: Alert = {
    rule: 'b',
    isDefault: false,
    instance: 'x'.repeat(5000),
    at: 2,
    until: null,
    value: 1,
  }
  const text = alertLine(begin) + alertLine(other) + alertLine(end) + alertLine(begin)
  expect(text.split('\n')).toHaveLength(5)
  const [first, second, ...rest] = readAlerts(
    `null\n[1]\n{"rule":"c"}\n${text}${alertLine(other).slice(0, 40)}`,
  )
  expect(first).toEqual(end)
  expect(second).toEqual({ ...other, instance: 'x'.repeat(200) })
  expect(rest).toEqual([])
})
