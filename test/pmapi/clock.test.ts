import { expect, test } from 'vitest'
import { SYSTEM_CLOCK } from '../../src/pmapi/clock.ts'

test('a sleep ends when its time has come', async () => {
  const before = SYSTEM_CLOCK.now()
  await SYSTEM_CLOCK.sleep(10, undefined)
  expect(SYSTEM_CLOCK.now() - before).toBeGreaterThan(8)
})

test('a sleep is given up with the reason of its signal', async () => {
  const controller = new AbortController()
  const sleeping = SYSTEM_CLOCK.sleep(60_000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow('enough')
  await expect(SYSTEM_CLOCK.sleep(60_000, controller.signal)).rejects.toThrow('enough')
})
