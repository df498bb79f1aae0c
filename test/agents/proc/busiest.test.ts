/** The choice of the processes that are recorded. */
import { expect, test } from 'vitest'
import { busiest, type ResourceUse } from '../../../src/agents/proc/hot/busiest.ts'

const idle = { cpu: 0, io: 0, minorFaults: 0, majorFaults: 0, rss: 0 }
const use = (pid: number, rest: Partial<ResourceUse>): ResourceUse => ({ ...idle, pid, ...rest })

test('the top of each resource is chosen, each process once', () => {
  const uses = [
    use(1, { cpu: 0.5, rss: 900 }),
    use(2, { cpu: 0.9 }),
    use(3, { cpu: 0.1 }),
    use(4, { io: 10 }),
    use(5, { rss: 1000 }),
    use(6, { rss: 10 }),
    use(7, { minorFaults: 900 }),
    use(8, { majorFaults: 1 }),
    use(9, { minorFaults: 500 }),
  ]
  expect([...busiest(uses, 2)].sort()).toEqual([1, 2, 4, 5, 7, 8])
})

test('of a thousand busy processes at most four times the requested number are chosen', () => {
  const uses = Array.from({ length: 1000 }, (_, i) =>
    use(i, { cpu: 1 + i, io: 1000 - i, minorFaults: 100 + ((i * 7) % 1000), rss: 1 + ((i * 13) % 1000) }),
  )
  expect(busiest(uses, 5).size).toBeLessThanOrEqual(20)
  expect(busiest(uses, 5).size).toBeGreaterThan(10)
})

test('processes that use nothing are not chosen, and equals keep the older process', () => {
  expect([...busiest([use(1, {}), use(2, { cpu: 0.0001 })], 5)]).toEqual([])
  expect([...busiest([use(3, { cpu: 1 }), use(2, { cpu: 1 })], 1)]).toEqual([2])
})
