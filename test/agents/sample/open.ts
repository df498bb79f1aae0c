/** An open sample agent with a clock of the test's, and questions to it by name. */

import { agent as definition } from '../../../src/agents/sample/index.ts'
import { type ErrorCode, PcpError } from '../../../src/model/errors.ts'
import { domainOf, type Pmid } from '../../../src/model/ids.ts'
import type { Ask } from '../../../src/model/source.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import type { Value, ValueSet } from '../../../src/model/values.ts'
import type { AgentEnv } from '../../../src/pmda/define.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { ASK } from '../../lib/agent-catalogue.ts'

/** Values by instance, or the code of the metric's error; 'none' when it has neither. */
export type Answer = ReadonlyMap<number, Value> | ErrorCode | 'none'

/** The agent of one test. */
export class Sample {
  readonly agent: AgentSource
  readonly log: string[] = []
  /** Milliseconds since the epoch. */
  now = 1_700_000_000_000
  readonly prefix: string

  constructor(env: Partial<AgentEnv> = {}) {
    this.prefix = env.domain === 30 ? 'sampledso' : 'sample'
    this.agent = openAgent(definition, {
      env: {},
      clock: () => this.now,
      log: (level, text) => this.log.push(`${level} ${text}`),
      ...env,
    })
  }

  async idOf(name: string, ask: Ask = ASK): Promise<Pmid> {
    const [id] = await this.agent.lookupNames([`${this.prefix}.${name}`], ask)
    if (typeof id !== 'number') throw id ?? new Error(name)
    return id
  }

  /** The value set of a metric. */
  async set(name: string, ask: Ask = ASK): Promise<ValueSet> {
    const { sets } = await this.agent.fetch([await this.idOf(name)], ask)
    return sets[0]!
  }

  async answer(name: string, ask: Ask = ASK): Promise<Answer> {
    const set = await this.set(name, ask)
    if (set.status === 0) return 'none'
    if (set.status < 0) return PcpError.fromStatus(set.status).code
    const values = valuesOf(set, await this.#typeOf(set.pmid))
    return new Map(values.map(({ inst, value }) => [inst, value]))
  }

  /** The values of a metric in the order in which it gives them. */
  async values(name: string, ask: Ask = ASK): Promise<readonly Value[]> {
    const answer = await this.answer(name, ask)
    if (typeof answer === 'string') throw new Error(`${name}: ${answer}`)
    return [...answer.values()]
  }

  /** The value of a metric that has one. */
  async value(name: string, ask: Ask = ASK): Promise<Value> {
    return (await this.values(name, ask))[0]!
  }

  async store(name: string, value: Value, insts: readonly number[] = [-1], ask: Ask = ASK): Promise<void> {
    const id = await this.idOf(name)
    const type = await this.#typeOf(id)
    const set = makeSet(
      id,
      type,
      Int32Array.from(insts),
      insts.map(() => value),
    )
    await this.agent.store([set], ask)
  }

  async #typeOf(id: Pmid): Promise<number> {
    const [desc] = domainOf(id) === this.agent.domain ? await this.agent.descs([id], ASK) : []
    if (desc === undefined || desc instanceof PcpError) throw desc ?? new Error('Another agent’s')
    return desc.type
  }
}
