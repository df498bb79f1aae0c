import { expect, test } from 'vitest'
import { ChartColumn } from '../../src/archive/chart-column.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT } from '../../src/model/types.ts'

const reserve = (): void => {}
const WINDOW = { start: 100, finish: 200, points: 10 }

function points(column: ChartColumn): { times: number[]; values: number[] } {
  const { times, values } = column.finish()
  return { times: [...times], values: [...values] }
}

test('a counter becomes a rate, from the last value before the window on', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_COUNTER, factor: 0.001, raw: false, reserve })
  column.add(90, 0)
  column.add(100, 10_000)
  column.add(110, 30_000)
  expect(points(column)).toEqual({ times: [100, 110], values: [1, 2] })
})

test('a mark, or a decrease of a counter, makes a gap', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_COUNTER, factor: 1, raw: false, reserve })
  column.add(100, 50)
  column.add(110, 40)
  column.mark(115)
  column.add(120, 60)
  column.add(130, 70)
  expect(points(column)).toEqual({ times: [110, 115, 130], values: [Number.NaN, Number.NaN, 1] })
})

test('raw values are as recorded, and only inside the window', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_COUNTER, factor: 1, raw: true, reserve })
  for (const time of [90, 100, 200, 210]) column.add(time, time)
  expect(points(column)).toEqual({ times: [100, 200], values: [100, 200] })
})

test('a repeated value at the start of the window is drawn once', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_INSTANT, factor: 1, raw: false, reserve })
  for (const [time, value] of [
    [100, 5],
    [60, 4],
    [100, 5],
    [150, 6],
  ] as const)
    column.add(time, value)
  expect(points(column)).toEqual({ times: [100, 150], values: [5, 6] })
})

test('too many values become means of equal parts, with minimum and maximum', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_INSTANT, factor: 1, raw: false, reserve })
  for (let time = 100; time < 200; time++) column.add(time, time)
  const { times, values, min, max } = column.finish()
  expect(times).toHaveLength(10)
  expect(values[0]).toBe(104.5)
  expect([min![9], max![9]]).toEqual([190, 199])
})

test('a mark before the last value does not interrupt it', () => {
  const column = new ChartColumn(WINDOW, { sem: PM_SEM_INSTANT, factor: 1, raw: false, reserve })
  column.add(100, 5)
  column.mark(50)
  column.add(60, 5)
  column.add(100, 5)
  column.hold(150)
  expect(points(column)).toEqual({ times: [100, 150], values: [5, 5] })
})

test('space is reserved before it is allocated, up to the limit of points', () => {
  const asked: number[] = []
  const window = { start: 0, finish: 1000, points: 200 }
  const column = new ChartColumn(window, {
    sem: PM_SEM_INSTANT,
    factor: 1,
    raw: false,
    reserve: (more) => {
      asked.push(more)
    },
  })
  for (let time = 0; time < 1000; time++) column.add(time, time)
  expect(asked).toEqual([64, 64, 72])
})
