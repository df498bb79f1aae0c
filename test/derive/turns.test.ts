/** Turns of fetches. */
import { expect, test } from 'vitest'
import { Turns } from '../../src/derive/turns.ts'
import { ANONYMOUS } from '../../src/model/source.ts'

/** Something that takes until it is told to end. */
function held(): {
  promise: Promise<string>
  resolve: (value: string) => void
  reject: (why: Error) => void
} {
  let [resolve, reject]: [(value: string) => void, (why: Error) => void] = [() => {}, () => {}]
  const promise = new Promise<string>((...ends) => {
    ;[resolve, reject] = ends
  })
  return { promise, resolve, reject }
}

test('the first begins at once, the others of the same requester when those before have ended or failed', async () => {
  const turns = new Turns()
  const begun: string[] = []
  const first = held()
  const act = (name: string, ends: Promise<string>) => (): Promise<string> => {
    begun.push(name)
    return ends
  }
  const results = [
    turns.take(ANONYMOUS, undefined, act('first', first.promise)),
    turns.take(ANONYMOUS, undefined, act('second', Promise.resolve('2'))),
    turns.take({ ...ANONYMOUS, context: 7 }, undefined, act('other', Promise.resolve('3'))),
  ]
  expect(begun).toEqual(['first', 'other'])
  expect(turns.isTaken(ANONYMOUS)).toBe(true)
  first.reject(new Error('failed'))
  expect(await Promise.allSettled(results)).toMatchObject([
    { status: 'rejected' },
    { value: '2' },
    { value: '3' },
  ])
  expect(begun).toEqual(['first', 'other', 'second'])
  await new Promise(setImmediate)
  expect(turns.isTaken(ANONYMOUS)).toBe(false)
})

test('one that is given up while it waits does not begin, and those behind it still wait', async () => {
  const turns = new Turns()
  const begun: string[] = []
  const first = held()
  const aborter = new AbortController()
  const results = [
    turns.take(ANONYMOUS, undefined, () => first.promise),
    turns.take(ANONYMOUS, aborter.signal, async () => String(begun.push('given up'))),
    turns.take(ANONYMOUS, undefined, async () => String(begun.push('third'))),
  ]
  aborter.abort()
  await expect(results[1]).rejects.toMatchObject({ code: 'ECANCELED' })
  expect(begun).toEqual([])
  first.resolve('1')
  await Promise.all([results[0], results[2]])
  expect(begun).toEqual(['third'])
})
