/** Limits on password guessing, with a clock that the test advances. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ClientOrigin } from '../../src/net/client-origin.ts'
import { LoginAttempts } from '../../src/net/login-attempts.ts'

const REMOTE = { address: '192.0.2.1' }
const OTHER = { address: '192.0.2.2' }
const MINUTE = 60_000

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Makes attempts in sequence for some milliseconds; returns how many were checked. */
async function guess(
  attempts: LoginAttempts,
  ms: number,
  next: (i: number) => readonly [ClientOrigin, string],
): Promise<number> {
  let checked = 0
  let isOver = false
  const guessing = (async () => {
    for (let i = 0; !isOver; i++) {
      try {
        const give = await attempts.begin(...next(i))
        checked++
        give('wrong')
      } catch (error) {
        expect(error).toMatchObject({ code: 'EAGAIN' })
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
  })()
  await vi.advanceTimersByTimeAsync(ms)
  isOver = true
  await vi.advanceTimersByTimeAsync(MINUTE)
  await guessing
  return checked
}

async function login(attempts: LoginAttempts, origin: ClientOrigin, user: string): Promise<void> {
  const give = await attempts.begin(origin, user)
  give('right')
}

test('one address may fail five times, then four times a minute', async () => {
  expect(await guess(new LoginAttempts(), 10 * MINUTE, (i) => [REMOTE, `user ${i}`])).toBeLessThanOrEqual(
    5 + 4 * 11,
  )
})

test('connections in parallel do not guess faster', async () => {
  const attempts = new LoginAttempts()
  const begun = Array.from({ length: 100 }, () => attempts.begin(REMOTE, 'joe'))
  const settled = Promise.allSettled(begun)
  await vi.advanceTimersByTimeAsync(6000)
  expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
})

test('a correct login between wrong ones does not speed up guessing', async () => {
  const attempts = new LoginAttempts()
  await login(attempts, REMOTE, 'mallory')
  let checked = 0
  for (let i = 0; i < 100; i++) {
    await login(attempts, REMOTE, 'mallory')
    const begun = attempts.begin(REMOTE, 'joe').then(
      (give) => {
        give('wrong')
        checked++
      },
      () => undefined,
    )
    await vi.advanceTimersByTimeAsync(0)
    if (i >= 5) await vi.advanceTimersByTimeAsync(1)
    void begun
  }
  expect(checked).toBe(5)
  await vi.advanceTimersByTimeAsync(MINUTE)
})

test('correct logins are never delayed, however many there are', async () => {
  const attempts = new LoginAttempts()
  for (let i = 0; i < 1000; i++) await login(attempts, REMOTE, `user ${i % 7}`)
  const parallel = Array.from({ length: 15 }, () => login(attempts, OTHER, 'joe'))
  await Promise.all(parallel)
})

test('a flood from one address delays no other, nor a user who has logged in from there', async () => {
  const attempts = new LoginAttempts()
  await login(attempts, REMOTE, 'joe')
  await guess(attempts, MINUTE, () => [REMOTE, 'root'])
  await login(attempts, OTHER, 'root')
  await login(attempts, REMOTE, 'joe')
})

test('one user of this machine guesses a name no faster than one address, and names 20 times a minute, as loopback', async () => {
  const local = { address: undefined, uid: 1000 }
  expect(await guess(new LoginAttempts(), 2 * MINUTE, () => [local, 'joe'])).toBeLessThanOrEqual(5 + 4 * 3)
  for (const origin of [{ address: '127.0.0.1' }, { address: '::ffff:127.0.0.1' }, local]) {
    const names = await guess(new LoginAttempts(), 2 * MINUTE, (i) => [origin, `user ${i}`])
    expect(names).toBeLessThanOrEqual(20 + 20 * 3)
  }
})

test('guessing a name four times a minute through a web server does not delay its owner', async () => {
  const attempts = new LoginAttempts()
  const web = { address: '127.0.0.1' }
  await login(attempts, web, 'ann')
  for (let i = 0; i < 60; i++) {
    const give = await attempts.begin(web, 'ann')
    give('wrong')
    await vi.advanceTimersByTimeAsync(MINUTE / 4)
    await login(attempts, web, 'ann')
  }
})

test('a flood from many addresses does not delay users of this machine', async () => {
  const attempts = new LoginAttempts()
  await guess(attempts, MINUTE, (i) => [{ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }, 'root'])
  await login(attempts, { address: '127.0.0.1' }, 'joe')
  await login(attempts, { address: undefined, uid: 1000 }, 'joe')
})

test('users of one machine do not share their attempts on a unix socket', async () => {
  const attempts = new LoginAttempts()
  await guess(attempts, MINUTE, () => [{ address: undefined, uid: 65534 }, 'joe'])
  await login(attempts, { address: undefined, uid: 1000 }, 'joe')
})

test('an IPv6 network counts as one address', async () => {
  const checked = await guess(new LoginAttempts(), MINUTE, (i) => [
    { address: `2001:db8::${(i % 65536).toString(16)}` },
    'joe',
  ])
  expect(checked).toBeLessThanOrEqual(5 + 4 * 2)
  const attempts = new LoginAttempts()
  await guess(attempts, 1000, () => [{ address: '2001:db8:0:0:1:2:3:4' }, 'joe'])
  await login(attempts, { address: '2001:db8:0:1::1' }, 'joe')
})

test('many addresses together fail 60 times a minute, and memory of them is bounded', async () => {
  const attempts = new LoginAttempts()
  await login(attempts, REMOTE, 'joe')
  let most = 0
  const checked = await guess(attempts, 5 * MINUTE, (i) => {
    most = Math.max(most, attempts.size)
    return [{ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }, 'root']
  })
  expect(checked).toBeLessThanOrEqual(60 + 60 * 6)
  expect(checked).toBeGreaterThan(60)
  expect(most).toBeLessThanOrEqual(checked + 2)
  await login(attempts, REMOTE, 'joe')
})

test('an attempt whose password was not checked costs nothing', async () => {
  const attempts = new LoginAttempts()
  for (let i = 0; i < 100; i++) (await attempts.begin(REMOTE, 'joe'))('unknown')
})

test('a client that leaves while its attempt waits frees its place', async () => {
  const attempts = new LoginAttempts()
  for (let i = 0; i < 5; i++) await attempts.begin(REMOTE, 'joe')
  vi.advanceTimersByTime(12_000)
  const gone = new AbortController()
  const waiting = Array.from({ length: 16 }, () => attempts.begin(REMOTE, 'joe', gone.signal))
  const settled = Promise.allSettled(waiting)
  await expect(attempts.begin(REMOTE, 'joe')).rejects.toMatchObject({ code: 'EAGAIN' })
  gone.abort()
  for (const outcome of await settled) expect(outcome).toMatchObject({ reason: { code: 'ECANCELED' } })
  const next = attempts.begin(REMOTE, 'joe')
  await vi.advanceTimersByTimeAsync(4000)
  await next
})

test('failures are counted for each origin and reported ever less often', async () => {
  const reports: string[] = []
  const attempts = new LoginAttempts({ report: (origin, count) => reports.push(`${origin}: ${count}`) })
  await guess(attempts, MINUTE, () => [REMOTE, 'joe'])
  expect(reports).toEqual([1, 10, 100, 1000].map((count) => `192.0.2.1: ${count}`))
})
