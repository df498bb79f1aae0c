/** Batching of range queries. */
import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import type { ChartRange } from '../../src/archive/chart-answer.ts'
import { batched } from '../../src/ui/data/batch.ts'
import type { RangeQuery } from '../../src/ui/data/responses.ts'

const query = (name: string, rest: Partial<RangeQuery> = {}): RangeQuery => ({
  names: [name],
  derive: {},
  start: 0,
  finish: 10,
  points: 5,
  ...rest,
})
const answer = ({ start, finish, names }: RangeQuery): ChartRange => ({
  start,
  finish,
  marks: [],
  lists: [],
  metrics: names.map((name) => ({ name, code: 'X', message: name })),
})

function recorder(): { asked: RangeQuery[]; range: (query: RangeQuery) => Promise<ChartRange> } {
  const asked: RangeQuery[] = []
  return {
    asked,
    range: (one) => {
      asked.push(one)
      return one.names.includes('bad') ? Promise.reject(new Error('bad')) : Promise.resolve(answer(one))
    },
  }
}

test('queries of one turn and window are one request, each name once', async () => {
  const { asked, range } = recorder()
  const ask = batched(range)
  const answers = await Promise.all([
    ask(query('a')),
    ask(query('b', { derive: { b: 'x+1' } })),
    ask(query('a')),
  ])
  expect(asked).toEqual([query('a', { names: ['a', 'b'], derive: { b: 'x+1' } })])
  expect(answers[0]).toBe(answers[1])
})

test('windows of one turn that differ little are one request over both', async () => {
  const { asked, range } = recorder()
  const ask = batched(range)
  const window = { start: 1000, finish: 1600, points: 1200 }
  await Promise.all([
    ask(query('live', { ...window, finish: 1597, points: 1194 })),
    ask(query('added', window)),
    ask(query('moved', { ...window, start: 998 })),
    ask(query('before', { ...window, start: 990 })),
    ask(query('coarse', { ...window, points: 600 })),
    ask(query('stack', { ...window, aligned: true })),
    ask(query('stack', { ...window, finish: 1599, aligned: true })),
    ask(query('other stack', { ...window, aligned: true })),
  ])
  expect(asked).toEqual([
    query('live', { ...window, names: ['live', 'added', 'moved'], start: 998 }),
    query('before', { ...window, start: 990 }),
    query('coarse', { ...window, points: 600 }),
    query('stack', { ...window, aligned: true }),
    query('other stack', { ...window, aligned: true }),
  ])
})

test('another window and a later turn are separate requests', async () => {
  const { asked, range } = recorder()
  const ask = batched(range)
  await Promise.all([ask(query('a')), ask(query('a', { finish: 20 }))])
  await ask(query('a'))
  expect(asked).toHaveLength(3)
})

test('a failed batch is retried one by one, and only the faulty query fails', async () => {
  const { range } = recorder()
  const ask = batched(range)
  const [good, bad] = await Promise.allSettled([ask(query('good')), ask(query('bad'))])
  expect(good).toMatchObject({ status: 'fulfilled', value: { metrics: [{ name: 'good' }] } })
  expect(bad.status).toBe('rejected')
})

test('a batch too long for a URL is split into several requests', async () => {
  const { asked, range } = recorder()
  const ask = batched(range)
  await Promise.all(Array.from({ length: 30 }, (_, i) => ask(query(`${'x'.repeat(400)}${i}`))))
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.flatMap(({ names }) => names)).toHaveLength(30)
})

test('charts out of view wait for visible ones, unless they come into view', async () => {
  const asked: string[][] = []
  const answers: (() => void)[] = []
  const ask = batched((one) => {
    asked.push([...one.names])
    return new Promise((resolve) => answers.push(() => resolve(answer(one))))
  })
  const below = signal(false)
  const all = [
    ask(query('a')),
    ask(query('b'), { isSeen: below }),
    ask(query('c'), { isSeen: signal(false) }),
    ask(query('d'), { isSeen: signal(true) }),
  ]
  await Promise.resolve()
  expect(asked).toEqual([['a', 'd']])
  below.value = true // the page is scrolled
  await Promise.resolve()
  expect(asked).toEqual([['a', 'd'], ['b']])
  answers[1]!()
  await all[1]
  expect(asked).toHaveLength(2)
  answers[0]!()
  await all[0]
  await expect.poll(() => asked).toEqual([['a', 'd'], ['b'], ['c']])
  answers[2]!()
  await Promise.all(all)
  below.value = false
  below.value = true
  await Promise.resolve()
  expect(asked).toHaveLength(3)
})

test('charts out of view are queried if nothing is visible or the visible ones fail', async () => {
  const { asked, range } = recorder()
  const ask = batched(range)
  await ask(query('a'), { isSeen: signal(false) })
  expect(asked).toHaveLength(1)
  const failing = ask(query('bad'))
  await ask(query('b'), { isSeen: signal(false) })
  await expect(failing).rejects.toThrow('bad')
})

test('partial results reach all queries of a batch', async () => {
  const ask = batched(async (one, onPart) => {
    onPart({ ...answer(one), finish: 3 })
    return answer(one)
  })
  const parts: number[] = []
  const onPart = ({ finish }: ChartRange): void => void parts.push(finish)
  const [one] = await Promise.all([ask(query('a'), { onPart }), ask(query('b'), { onPart }), ask(query('c'))])
  expect(parts).toEqual([3, 3])
  expect(one!.finish).toBe(10)
})
