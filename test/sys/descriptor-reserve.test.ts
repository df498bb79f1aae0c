/** Which file descriptors may stay open; test/security/descriptors.test.ts has the processes. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DescriptorReserve, descriptorLimit } from '../../src/sys/descriptor-reserve.ts'

test.each([
  [64, 32, 48],
  [1024, 896, 960],
  [1_000_000, 999_744, 999_872],
])(
  'of %i file descriptors, connections keep those below %i and get a reason below %i',
  (limit, kept, told) => {
    const reserve = new DescriptorReserve(limit)
    expect([reserve.mayKeep(kept - 1), reserve.mayKeep(kept)]).toEqual([true, false])
    expect([reserve.mayLinger(told - 1), reserve.mayLinger(told)]).toEqual([true, false])
  },
)

test('without a known limit all may stay open', () => {
  expect(new DescriptorReserve(Number.POSITIVE_INFINITY).mayKeep(10 ** 9)).toBe(true)
  expect(new DescriptorReserve(64).mayKeep(-1)).toBe(true)
})

test('refusals are logged once a minute', () => {
  let nowMs = 0
  const reserve = new DescriptorReserve(1024, () => nowMs)
  expect(reserve.refusalMessage()).toMatch(/128 of the 1024 files.*ulimit -n/)
  nowMs = 59_999
  expect(reserve.refusalMessage()).toBeUndefined()
  nowMs = 60_000
  expect(reserve.refusalMessage()).toBeDefined()
})

test.skipIf(process.platform !== 'linux')('the limit is that of this process', () => {
  const soft = /Max open files\s+(\w+)/.exec(readFileSync('/proc/self/limits', 'latin1'))![1]!
  expect(descriptorLimit()).toBe(soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft))
})
