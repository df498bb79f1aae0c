import { afterEach, expect, test, vi } from 'vitest'
import { EventLoopTurn } from '../../src/sys/event-loop.ts'

afterEach(() => vi.restoreAllMocks())

/** Runs a loop with steps of this duration until it should yield; returns the duration and the number of clock reads. */
function run(stepMs: number): { readonly ms: number; readonly looks: number } {
  let now = 1000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const turn = new EventLoopTurn()
  while (!turn.shouldYield()) now += stepMs
  return { ms: now - 1000, looks: clock.mock.calls.length }
}

test.each([5, 20, 100])('a loop with steps of %i ms yields as soon as its turn is over', (stepMs) => {
  expect(run(stepMs).ms).toBe(Math.max(20, stepMs))
})

test('a loop with fast steps looks at the clock once in sixteen of them', () => {
  const { ms, looks } = run(1 / 64)
  expect(ms).toBeCloseTo(20, 0)
  expect(looks).toBeLessThan((64 * 20) / 16 + 5)
})

test('a turn begins anew after a yield', async () => {
  vi.spyOn(performance, 'now').mockReturnValueOnce(100).mockReturnValueOnce(125).mockReturnValue(130)
  const turn = new EventLoopTurn()
  expect([turn.shouldYield(), turn.shouldYield()]).toEqual([false, true])
  await turn.yield()
  expect(turn.shouldYield()).toBe(false)
})
