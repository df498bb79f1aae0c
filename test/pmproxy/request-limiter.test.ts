import { expect, test } from 'vitest'
import { RequestLimiter } from '../../src/pmproxy/request-limiter.ts'

const never = new AbortController().signal

/** A gate, the order in which requests passed it, and functions that end them. */
function gated(waiting: number, waitMs = 60_000) {
  const gate = new RequestLimiter('guests', { concurrent: 2, queued: waiting, waitMs })
  const entered: number[] = []
  const leave = new Map<number, () => void>()
  const come = (guest: number, signal = never): Promise<number> =>
    gate.run(signal, () => {
      entered.push(guest)
      return new Promise((resolve) => leave.set(guest, () => resolve(guest)))
    })
  return { entered, leave, come }
}

test('a limited number runs at a time, the others follow in order of arrival', async () => {
  const { entered, leave, come } = gated(10)
  const guests = [1, 2, 3, 4].map((guest) => come(guest))
  expect(entered).toEqual([1, 2])
  leave.get(2)!()
  await guests[1]
  expect(entered).toEqual([1, 2, 3])
  const last = come(5)
  leave.get(1)!()
  leave.get(3)!()
  await Promise.all([guests[0], guests[2]])
  expect(entered).toEqual([1, 2, 3, 4, 5])
  leave.get(4)!()
  leave.get(5)!()
  expect(await Promise.all([...guests, last])).toEqual([1, 2, 3, 4, 5])
  // All requests have ended.
  void come(6)
  void come(7)
  expect(entered.slice(5)).toEqual([6, 7])
})

test('a full queue and a long wait are errors; a failed request makes room', async () => {
  const { entered, leave, come } = gated(1, 20)
  const inside = [come(1), come(2)]
  const waiting = come(3)
  await expect(come(4)).rejects.toMatchObject({ code: 'EBUSY', message: /^Too many guests / })
  await expect(waiting).rejects.toMatchObject({ code: 'EBUSY' })
  for (const guest of [1, 2]) leave.get(guest)!()
  await Promise.all(inside)
  expect(entered).toEqual([1, 2])
  const gate = new RequestLimiter('guests', { concurrent: 1, queued: 0, waitMs: 1 })
  await expect(gate.run(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await gate.run(never, async () => 'in')).toBe('in')
})

test('a request cancelled in the queue leaves no gap', async () => {
  const { entered, leave, come } = gated(2)
  void come(1)
  void come(2)
  const aborter = new AbortController()
  const gone = come(3, aborter.signal)
  const after = come(4)
  aborter.abort()
  await expect(gone).rejects.toMatchObject({ code: 'ECANCELED' })
  leave.get(1)!()
  await new Promise(setImmediate)
  expect(entered).toEqual([1, 2, 4])
  leave.get(4)!()
  expect(await after).toBe(4)
})
