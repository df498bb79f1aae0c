/** The time under the pointer, shared by crosshair, tooltip and legend, also where nothing was recorded. */
import { expect, test } from 'vitest'
import { crosshairAt, sampleAt } from '../../src/ui/chart/crosshair.ts'
import { loneSamples } from '../../src/ui/chart/envelope.ts'
import { tipOffset } from '../../src/ui/chart/Readings.tsx'

const TIMES = [0, 10, 20, 30, 100, 110]

test('a line is picked where it is drawn', () => {
  const values = [1, undefined, 2, null, 3, 4]
  const at = (moment: number) => sampleAt(TIMES, values, { at: moment, slack: 2 })
  expect([0, 9, 11, 20].map(at)).toEqual([0, 0, 2, 2])
  expect([22, 23, 30, 60, 97].map(at)).toEqual([2, undefined, undefined, undefined, undefined])
  expect([98, 104, 106, 112, 113].map(at)).toEqual([4, 4, 5, 5, undefined])
  expect([-2, -3].map(at)).toEqual([0, undefined])
})

test("a line that ended earlier is not picked at another's samples", () => {
  expect(sampleAt([0, 10, 20, 30], [1, 2, undefined, undefined], { at: 30, slack: 2 })).toBeUndefined()
})

test('the crosshair is at the nearest picked sample, else at the pointer', () => {
  const columns = [
    [1, undefined, 2, null, 3, 4],
    [null, null, null, null, null, 5],
  ]
  expect(crosshairAt(TIMES, columns, { at: 12, slack: 2 })).toEqual({ at: 20, slack: 2 })
  expect(crosshairAt(TIMES, columns, { at: 60, slack: 2 })).toEqual({ at: 60, slack: 2 })
  expect(crosshairAt(TIMES, columns, { at: 108, slack: 2 })).toEqual({ at: 110, slack: 2 })
  expect(crosshairAt([], [[]], { at: 5, slack: 2 })).toEqual({ at: 5, slack: 2 })
})

test('with any gaps, picked samples are at the crosshair or connected to it', () => {
  let seed = 1
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  for (let n = 0; n < 500; n++) {
    const times = Array.from({ length: 20 }, (_, i) => i * 10)
    const column = times.map((time) => (random() < 0.3 ? null : random() < 0.3 ? undefined : time))
    const pointer = { at: random() * 220 - 10, slack: 3 }
    const pointed = crosshairAt(times, [column], pointer)
    const index = sampleAt(times, column, pointed)
    if (index === undefined) {
      expect(pointed).toEqual(pointer)
      continue
    }
    expect(column[index]).toBe(pointed.at)
    const between = column.filter(
      (_, i) => times[i]! > Math.min(pointer.at, pointed.at) && times[i]! < Math.max(pointer.at, pointed.at),
    )
    expect(between.filter((value) => value === null)).toEqual([])
  }
})

test('a tip is beside the pointer, and inside the window', () => {
  expect(tipOffset(100, 16, 200, 1000)).toBe(116)
  expect(tipOffset(900, 16, 200, 1000)).toBe(684)
  expect(tipOffset(100, 16, 290, 300)).toBe(6)
  expect(tipOffset(10, 16, 500, 300)).toBe(4)
  for (let at = 0; at <= 600; at++)
    for (const size of [10, 100, 400, 590]) {
      const start = tipOffset(at, 12, size, 600)
      expect(start >= 4 && start + size <= 596).toBe(true)
    }
})

test('isolated samples are points where a line would be too short', () => {
  const times = [0, 1, 2, 3, 3.5, 4, 5, 9, 10, 11]
  const values = [1, null, 2, undefined, null, 3, 4, null, 5, undefined]
  expect(loneSamples(times, values, { from: 0, to: 20, shortest: 0.5 })).toEqual([0, 2, 8])
  expect(loneSamples(times, values, { from: 1, to: 20, shortest: 1 })).toEqual([2, 6, 8])
  expect(loneSamples(times, values, { from: 3, to: 4, shortest: 0 })).toBe(undefined)
})
