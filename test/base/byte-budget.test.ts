/** Evictions when the memory held for clients exceeds its limits. */
import { expect, test } from 'vitest'
import { type ByteAccount, ByteBudget } from '../../src/base/byte-budget.ts'

function budgetOf(each: number, all: number, now: () => number = () => 0) {
  const log: string[] = []
  const evicted: string[] = []
  const budget = new ByteBudget({ each, all }, (text) => log.push(text), now)
  const open = (name: string, group?: string): ByteAccount =>
    budget.open({
      name,
      ...(group === undefined ? {} : { group }),
      evict: (reason) => evicted.push(`${name} ${reason}`),
    })
  return { budget, open, log, evicted }
}

test('a holder beyond its limit is dropped, and the log has its name and the reason', () => {
  const { budget, open, log, evicted } = budgetOf(2048, 10_000)
  const [a, b] = [open('a'), open('b')]
  a.keep(2048)
  b.keep(1000)
  expect(evicted).toEqual([])
  a.keep(1)
  expect(log).toEqual(['a is dropped: it holds 3 KiB; the limit is 2 KiB'])
  expect(evicted).toHaveLength(1)
  expect(budget.bytes).toBe(1000)
})

test('bytes under way count towards the total, and the largest holder is evicted first', () => {
  const { budget, open, evicted } = budgetOf(2048, 10_000)
  const [small, large, newest] = [open('small'), open('large'), open('newest')]
  small.keep(1000)
  large.setPassing(6000)
  newest.keep(2000)
  expect(evicted).toEqual([])
  newest.setPassing(1001)
  expect(evicted).toEqual(['large holds 6 KiB, the most; the total of 10 KiB exceeds the limit of 10 KiB'])
  expect(budget.bytes).toBe(4001)
  large.setPassing(9999) // it is closed and no longer counts
  expect(budget.bytes).toBe(4001)
  newest.setPassing(0)
  small.keep(-1000)
  expect(budget.bytes).toBe(2000)
})

test('many small holders of one origin are evicted before a larger one of another', () => {
  const { open, evicted } = budgetOf(100_000, 10_000)
  open('honest', 'home').keep(3000)
  for (let i = 0; i < 100; i++) open(`attacker ${i}`, 'away').keep(500)
  expect(evicted).toHaveLength(86)
  expect(evicted.filter((line) => line.startsWith('honest'))).toEqual([])
})

test('a closed account does not count, and closing is idempotent', () => {
  const { budget, open } = budgetOf(1000, 1000)
  const account = open('a')
  account.keep(500)
  budget.close(account)
  budget.close(account)
  account.keep(600)
  expect(budget.bytes).toBe(0)
})

test('the log has one line in ten seconds, with the number of suppressed ones', () => {
  let nowMs = 0
  const { open, log } = budgetOf(1000, 10_000, () => nowMs)
  for (let i = 0; i < 5; i++) open(`n${i}`).keep(2000)
  nowMs = 10_000
  open('last').keep(2000)
  expect(log).toHaveLength(2)
  expect(log[1]).toMatch(/^last is dropped.*\(and 4 more since the last such line\)$/)
})
