/** Derived metrics over a source whose agents are replaced. */
import { expect, test } from 'vitest'
import { DerivedDefinitions } from '../../src/derive/definitions.ts'
import { withDerived } from '../../src/derive/derived-source.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PcpError } from '../../src/model/errors.ts'
import { PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type MetricSource, type SourceEvent } from '../../src/model/source.ts'
import { PM_SEM_INSTANT, PM_TYPE_32, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet, PMCD_LABEL_CHANGE, PMCD_RESTART_AGENT, type Value } from '../../src/model/values.ts'

const ask = { requester: ANONYMOUS }
const A = pmid(245, 0, 1)
const OTHER = pmid(245, 0, 2)

/** Two metrics, which an agent may replace by others. */
class Replaced {
  readonly listeners = new Set<(event: SourceEvent) => void>()
  readonly descs = new Map<string, MetricDesc>()
  /** The collector no longer reaches the agent. */
  isAway = false
  lookups = 0
  #values = new Map<number, Value>()
  #sec = 100
  #news = 0

  constructor() {
    this.serve('a', A, PM_TYPE_32, 1)
    this.serve('other', OTHER, PM_TYPE_32, 10)
  }

  serve(name: string, id: number, type: number, value: Value): void {
    this.descs.set(name, { pmid: id, type, indom: PM_INDOM_NULL, sem: PM_SEM_INSTANT, units: 0 })
    this.#values.set(id, value)
  }

  /** Announces changes with the next fetch. */
  tellNext(changes: number): void {
    this.#news = changes
  }

  get source(): MetricSource {
    const none = async (): Promise<never> => {
      throw new PcpError('PM_ERR_NYI')
    }
    const byId = (id: number): MetricDesc | undefined =>
      [...this.descs.values()].find((desc) => desc.pmid === id)
    return {
      ...{
        children: none,
        traverse: none,
        lookupId: none,
        instances: none,
        text: none,
        labels: none,
        store: none,
      },
      lookupNames: async (names) => {
        this.lookups++
        return names.map((name) => this.descs.get(name)?.pmid ?? new PcpError('PM_ERR_NAME'))
      },
      descs: async (ids) =>
        ids.map((id) => (this.isAway ? undefined : byId(id)) ?? new PcpError('PM_ERR_NOAGENT')),
      fetch: async (ids) => {
        const changes = this.#news
        this.#news = 0
        if (changes !== 0) for (const listener of this.listeners) listener({ type: 'changed', changes })
        const sets = ids.map((id) => {
          const desc = this.isAway ? undefined : byId(id)
          return desc === undefined
            ? emptySet(id, new PcpError('PM_ERR_NOAGENT').status)
            : makeSet(id, desc.type, [-1], [this.#values.get(id)!])
        })
        return { timestamp: { sec: this.#sec++, nsec: 0 }, changes, sets }
      },
      subscribe: (listener) => {
        this.listeners.add(listener)
        return () => this.listeners.delete(listener)
      },
      close: async () => {},
    }
  }
}

test('an expression is bound again when an operand has become another metric', async () => {
  const agent = new Replaced()
  const source = withDerived(agent.source, () => [])
  const ids = [
    await source.define('d.double', 'a * 2', ask),
    await source.define('d.change', 'delta(a)', ask),
    await source.define('d.other', 'delta(other)', ask),
  ]
  const fetched = async (): Promise<unknown[]> => {
    const { sets } = await source.fetch(ids, ask)
    const descs = await source.descs(ids, ask)
    return sets.map((set, i) =>
      set.status < 0
        ? PcpError.fromStatus(set.status).code
        : valuesOf(set, (descs[i] as MetricDesc).type).map(({ value }) => value),
    )
  }
  await fetched()
  expect(await fetched()).toEqual([[2], [0], [0]])

  // The result with the announcement has the new values; changes restart, except for unaffected metrics.
  agent.serve('a', A, PM_TYPE_DOUBLE, 1.25)
  agent.tellNext(PMCD_RESTART_AGENT)
  expect(await fetched()).toEqual([[2.5], [], [0]])
  expect(await fetched()).toEqual([[2.5], [0], [0]])
  expect(await source.descs([ids[0]!], ask)).toMatchObject([{ type: PM_TYPE_DOUBLE }])

  // An unavailable agent may come back unchanged.
  agent.isAway = true
  agent.tellNext(PMCD_RESTART_AGENT)
  expect(await fetched()).toEqual(['PM_ERR_NOAGENT', 'PM_ERR_NOAGENT', 'PM_ERR_NOAGENT'])
  agent.isAway = false
  expect((await fetched())[0]).toEqual([2.5])

  // A changed PMID is found with the next fetch.
  agent.serve('a', pmid(245, 0, 3), PM_TYPE_U64, 7n)
  agent.tellNext(PMCD_RESTART_AGENT)
  expect((await fetched())[0]).toEqual([])
  expect((await fetched())[0]).toEqual([14])
})

test('names are not looked up again for changes of labels, nor after release', async () => {
  const agent = new Replaced()
  const source = withDerived(agent.source, () => [])
  const id = await source.define('d.double', 'a * 2', ask)
  agent.tellNext(PMCD_LABEL_CHANGE)
  await source.fetch([id], ask)
  await source.fetch([id], ask)
  expect(agent.lookups).toBe(1)
  expect(agent.listeners.size).toBe(1)
  source.release()
  expect(agent.listeners.size).toBe(0)
  // Also for a fetch that was in flight.
  await source.fetch([id], ask)
  expect(agent.listeners.size).toBe(0)
})

test('metrics unbound by one request while another one binds are bound for both', async () => {
  const agent = new Replaced()
  const { source: under } = agent
  let answer = (): void => {}
  const slow: MetricSource = {
    ...under,
    lookupNames: async (names, asked) => {
      if (names.includes('slow')) await new Promise<void>((resolve) => (answer = resolve))
      return under.lookupNames(names, asked)
    },
  }
  const globals = new DerivedDefinitions('global')
  const source = withDerived(slow, () => globals.list())
  for (const name of ['a', 'slow', 'other']) globals.add(`d.${name}`, `${name} * 2`)
  const [a, late, other] = globals.list().map(({ pmid: id }) => id) as [number, number, number]
  agent.serve('slow', pmid(245, 0, 4), PM_TYPE_32, 4)
  await source.descs([a], ask)

  const both = source.descs([a, late], ask)
  agent.serve('a', A, PM_TYPE_DOUBLE, 1.25)
  for (const listener of agent.listeners) listener({ type: 'changed', changes: PMCD_RESTART_AGENT })
  await source.descs([other], ask)
  answer()
  expect(await both).toMatchObject([{ pmid: a, type: PM_TYPE_DOUBLE }, { pmid: late }])
})
