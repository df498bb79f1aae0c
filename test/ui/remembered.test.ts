/** Answers that are kept. */
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import { remembered } from '../../src/ui/data/remembered.ts'

function recording(numbers: number) {
  const asked: number[] = []
  const range = remembered(async ({ start, finish }) => {
    asked.push(start)
    if (start < 0) throw new Error('not recorded')
    return { start, finish, marks: [], metrics: [], lists: [new Float64Array(numbers)] } satisfies ChartRange
  }, 10_000)
  const at = (start: number) => range({ names: ['a.b'], derive: {}, start, finish: start + 10, points: 10 })
  return { asked, at }
}

test('a query is sent once, unless it fails', async () => {
  const { asked, at } = recording(10)
  expect(await at(1)).toBe(await at(1))
  await expect(at(-1)).rejects.toThrow('not recorded')
  await expect(at(-1)).rejects.toThrow('not recorded')
  expect(asked).toEqual([1, -1, -1])
})

test('the least recently used answers make room', async () => {
  const { asked, at } = recording(900_000)
  for (const start of [1, 2, 1, 3, 1, 2]) await at(start)
  expect(asked).toEqual([1, 2, 3, 2])
})

test('at most 200 answers are kept, and none about times that may still be recorded', async () => {
  const { asked, at } = recording(0)
  for (let start = 0; start <= 200; start++) await at(start)
  await at(1)
  expect(asked).toHaveLength(201)
  await at(0)
  expect(asked).toHaveLength(202)
  for (let n = 0; n < 2; n++) await at(9995)
  expect(asked).toHaveLength(204)
})

test('queries that were sent together share the room of their answer', async () => {
  const answer = { start: 0, finish: 1, marks: [], metrics: [], lists: [new Float64Array(900_000)] }
  let asked = 0
  const range = remembered(async () => {
    asked++
    return answer
  }, 1)
  const query = { derive: {}, start: 0, finish: 1, points: 10 }
  for (const name of ['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd']) await range({ names: [name], ...query })
  expect(asked).toBe(4)
})
