import { expect, test } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/pmapi/clock.ts'

test('a sleep ends after its time', async () => {
  const before = SYSTEM_CLOCK.now()
  await SYSTEM_CLOCK.sleep(10, undefined)
  expect(SYSTEM_CLOCK.now() - before).toBeGreaterThan(8)
})

test("aborting the signal cancels a sleep; the signal's reason is the cause", async () => {
  const controller = new AbortController()
  const sleeping = SYSTEM_CLOCK.sleep(60_000, controller.signal)
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(sleeping).rejects.toMatchObject({ code: 'ECANCELED', cause: reason })
  await expect(SYSTEM_CLOCK.sleep(60_000, controller.signal)).rejects.toMatchObject({ code: 'ECANCELED' })
})

test('a sleep beyond the longest timer does not end early', async () => {
  const controller = new AbortController()
  const sleeping = SYSTEM_CLOCK.sleep(2 ** 40, controller.signal)
  const first = await Promise.race([sleeping, SYSTEM_CLOCK.sleep(20, undefined).then(() => 'still asleep')])
  expect(first).toBe('still asleep')
  controller.abort()
  await expect(sleeping).rejects.toThrow('canceled')
})
