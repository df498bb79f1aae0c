import { expect, test } from 'vitest'
import { Goals } from '../../../src/series/query/window.ts'

/** Returns which of the times are taken. */
function taken(times: readonly number[], interval: number, start?: number): readonly number[] {
  const goals = new Goals(interval, start)
  return times.filter((time, i) => goals.takes(time, times[i + 1]))
}

const TENS = [0.2, 10.4, 20.1, 30.4, 40.1, 50.4, 60.3, 70.3]

test('takes the last sample before each goal', () => {
  expect(taken(TENS, 20)).toEqual([0.2, 20.1, 40.1, 50.4, 70.3])
  expect(taken(TENS, 20, 0)).toEqual([0.2, 10.4, 30.4, 50.4, 70.3])
})

// As PCP: test 1604 of its suite.
test('a goal that lags by more than two intervals is set to one after the next sample', () => {
  expect(taken(TENS, 20, -120)).toEqual([0.2, 30.4, 50.4, 70.3])
  expect(taken([0, 10, 20, 500, 510, 520, 530], 20)).toEqual([0, 20, 520, 530])
})
