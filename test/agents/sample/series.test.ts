/** What changes from fetch to fetch does so as in PCP, number by number (test/vectors/agents/sample.json). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Sample } from './open.ts'

interface Vectors {
  readonly values: { readonly [metric: string]: readonly (number | string)[] }
  readonly instances: { readonly [metric: string]: readonly (readonly number[])[] }
  readonly dodgey: readonly (readonly number[])[]
}
const path = new URL('../../vectors/agents/sample.json', import.meta.url)
const vectors = JSON.parse(readFileSync(path, 'utf8')) as Vectors

test.each(Object.entries(vectors.values))('values of %s', async (metric, expected) => {
  const sample = new Sample()
  const found: unknown[] = []
  for (const _ of expected) found.push(await sample.value(metric))
  expect(found).toEqual(expected)
})

test.each(Object.entries(vectors.instances))('instances of %s', async (metric, expected) => {
  const sample = new Sample()
  await sample.store('controller.mirage', 0)
  const found: unknown[] = []
  for (const _ of expected) found.push([...(await sample.set(metric)).inst])
  expect(found).toEqual(expected)
})

test('values of dodgey.value, which draw one by one from the common generator', async () => {
  const sample = new Sample()
  for (const expected of vectors.dodgey) expect(await sample.values('dodgey.value')).toEqual(expected)
})

test('the generator is shared by metrics, not by agents', async () => {
  const [first, second] = [new Sample(), new Sample()]
  await first.value('byte_rate')
  const [, next] = vectors.values['byte_rate']!
  expect(await first.value('kbyte_rate')).toBe(next)
  expect(await second.value('byte_rate')).toBe(vectors.values['byte_rate']![0])
})
