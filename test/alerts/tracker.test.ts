/** Alerts from evaluations: beginning, end, values around the threshold, restarts, bounds. */
import { expect, test } from 'vitest'
import { type Alert, alertLine, readAlerts } from '../../src/alerts/events.ts'
import { ADOPTED_SEC, AlertTracker, CLEAR_SEC } from '../../src/alerts/tracker.ts'

function tracked(
  active: readonly Alert[] = [],
  sec = 0,
): { readonly tracker: AlertTracker; readonly seen: Alert[] } {
  const seen: Alert[] = []
  const isLow = (rule: string): boolean => rule === 'memory.low'
  return { tracker: new AlertTracker({ active, onAlert: (alert) => seen.push(alert), isLow }, sec), seen }
}

test('an alert begins with its rule and ends when the rule was true last', () => {
  const { tracker, seen } = tracked()
  tracker.fired('disk.slow', [{ instance: 'sda', value: 120 }], 10)
  tracker.fired('disk.slow', [{ instance: 'sda', value: 300 }], 20)
  tracker.fired('disk.slow', [{ instance: 'sda', value: 110 }], 30)
  tracker.clear(30 + CLEAR_SEC - 1)
  expect(seen).toEqual([{ rule: 'disk.slow', instance: 'sda', at: 10, until: null, value: 120 }])
  tracker.clear(30 + CLEAR_SEC)
  expect(seen[1]).toEqual({ rule: 'disk.slow', instance: 'sda', at: 10, until: 30, value: 300 })
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
    tracker.clear(sec)
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
  tracker.clear(30 + CLEAR_SEC)
  expect(seen.at(-1)!.value).toBe(2)
})

test('alerts of before a restart continue, or end after the time that rules need', () => {
  const old = (rule: string): Alert => ({ rule, instance: '', at: 5, until: null, value: 1 })
  const { tracker, seen } = tracked([old('a'), old('b')], 1000)
  tracker.clear(1000 + ADOPTED_SEC - 1)
  tracker.fired('a', [{ instance: '', value: 2 }], 1000 + ADOPTED_SEC - 1)
  tracker.clear(1000 + ADOPTED_SEC)
  expect(seen).toEqual([{ ...old('b'), until: 1000 }])
  expect(tracker.active).toEqual([{ ...old('a'), value: 2 }])
})

test('a clock that is set back ends alerts, never before they began', () => {
  const { tracker, seen } = tracked()
  tracker.fired('a', [{ instance: '', value: 1 }], 5000)
  tracker.clear(100)
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
  const begin: Alert = { rule: 'a', instance: '<b>"\n', at: 1.5, until: null, value: null }
  const end: Alert = { ...begin, until: 9, value: 3 }
  const other: Alert = { rule: 'b', instance: 'x'.repeat(5000), at: 2, until: null, value: 1 }
  const text = alertLine(begin) + alertLine(other) + alertLine(end) + alertLine(begin)
  expect(text.split('\n')).toHaveLength(5)
  const [first, second, ...rest] = readAlerts(
    `null\n[1]\n{"rule":"c"}\n${text}${alertLine(other).slice(0, 40)}`,
  )
  expect(first).toEqual(end)
  expect(second).toEqual({ ...other, instance: 'x'.repeat(200) })
  expect(rest).toEqual([])
})
