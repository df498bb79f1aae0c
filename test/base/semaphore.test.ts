import { expect, test } from 'vitest'
import { Semaphore } from '../../src/base/semaphore.ts'

/** Work that the test ends. */
function work(begun: string[], name: string): { run: () => Promise<string>; end: (error?: Error) => void } {
  let end: (error?: Error) => void = () => {}
  const ended = new Promise<string>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve(name) : reject(error))
  })
  return {
    run: () => {
      begun.push(name)
      return ended
    },
    end,
  }
}

test('work beyond the limit waits in order of arrival, also after failures', async () => {
  const semaphore = new Semaphore(2)
  const begun: string[] = []
  const all = ['a', 'b', 'c', 'd'].map((name) => work(begun, name))
  const { signal } = new AbortController()
  const [a, b, c, d] = all.map(({ run }) => semaphore.run(run, signal))
  expect(begun).toEqual(['a', 'b'])
  all[1]!.end(new Error('broken'))
  await expect(b).rejects.toThrow('broken')
  expect(begun).toEqual(['a', 'b', 'c'])
  all[0]!.end()
  expect(await a).toBe('a')
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  for (const each of all) each.end()
  expect(await Promise.all([c, d])).toEqual(['c', 'd'])
})

test('aborted work gives up its place', async () => {
  const semaphore = new Semaphore(1)
  const begun: string[] = []
  const all = ['a', 'b', 'c'].map((name) => work(begun, name))
  const abort = new AbortController()
  const { signal } = new AbortController()
  const first = semaphore.run(all[0]!.run, signal)
  const second = semaphore.run(all[1]!.run, abort.signal)
  const third = semaphore.run(all[2]!.run, signal)
  abort.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  await expect(semaphore.run(all[1]!.run, abort.signal)).rejects.toThrow('enough')
  for (const each of all) each.end()
  await Promise.all([first, third])
  expect(begun).toEqual(['a', 'c'])
})
