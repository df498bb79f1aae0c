/** Serialization of fetches. */
import { expect, test } from 'vitest'
import { Mutex } from '../../src/derive/mutex.ts'
import { ANONYMOUS } from '../../src/model/source.ts'

/** An action that lasts until it is resolved or rejected. */
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

test('the first starts immediately, others of the same requester after earlier ones have settled', async () => {
  const turns = new Mutex()
  const begun: string[] = []
  const first = held()
  const act = (name: string, ends: Promise<string>) => (): Promise<string> => {
    begun.push(name)
    return ends
  }
  const results = [
    turns.run(ANONYMOUS, undefined, act('first', first.promise)),
    turns.run(ANONYMOUS, undefined, act('second', Promise.resolve('2'))),
    turns.run({ ...ANONYMOUS, context: 7 }, undefined, act('other', Promise.resolve('3'))),
  ]
  expect(begun).toEqual(['first', 'other'])
  expect(turns.isLocked(ANONYMOUS)).toBe(true)
  first.reject(new Error('failed'))
  expect(await Promise.allSettled(results)).toMatchObject([
    { status: 'rejected' },
    { value: '2' },
    { value: '3' },
  ])
  expect(begun).toEqual(['first', 'other', 'second'])
  await new Promise(setImmediate)
  expect(turns.isLocked(ANONYMOUS)).toBe(false)
})

test('an action aborted while it waits never starts, and later ones still wait', async () => {
  const turns = new Mutex()
  const begun: string[] = []
  const first = held()
  const aborter = new AbortController()
  const results = [
    turns.run(ANONYMOUS, undefined, () => first.promise),
    turns.run(ANONYMOUS, aborter.signal, async () => String(begun.push('given up'))),
    turns.run(ANONYMOUS, undefined, async () => String(begun.push('third'))),
  ]
  aborter.abort()
  await expect(results[1]).rejects.toMatchObject({ code: 'ECANCELED' })
  expect(begun).toEqual([])
  first.resolve('1')
  await Promise.all([results[0], results[2]])
  expect(begun).toEqual(['third'])
})
