/** An open agent: a MetricSource made from tables. docs/agents.md */
import { fromMillis } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, indomStr, type Pmid, pmidStr } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import type {
  Ask,
  Child,
  InstanceQuery,
  Instances,
  LabelQuery,
  MetricSource,
  SourceEvent,
  TextQuery,
} from '../model/source.ts'
import { ValueSetWriter } from '../model/value-writer.ts'
import { emptySet, type FetchResult, PMCD_NAMES_CHANGE, type ValueSet } from '../model/values.ts'
import { type AgentMetric, type CompiledAgent, compile, descOf } from './compile.ts'
import type { AgentEnv, AgentTables, RequestKind } from './define.ts'
import { type AgentDefinition, checkTables } from './define-agent.ts'
import { type FetchTools, fetchMetric } from './fetch.ts'
import { wrapText } from './help.ts'
import { labelsOf } from './labels.ts'
import { AgentNames, type NamedId } from './names.ts'
import { Reports } from './reports.ts'
import { storeSet } from './store.ts'

/** An agent in this process. What changed comes as events, never in `FetchResult.changes`. */
export interface AgentSource extends MetricSource {
  /** Name without 'pmda'. */
  readonly agent: string
  /** The domain it was opened with. */
  readonly domain: number
  /**
   * Every name and its PMID, in table order: what a collector puts into its name space. A subtree whose names come and go
   * is one name with the PMID of a dynamic root.
   */
  names(): Iterable<NamedId>
}

/**
 * Opens an agent in this process. What `env` does not say is: the definition's domain, the file system's root, this
 * process's environment, the wall clock, and a log that is thrown away. PM_ERR_GENERIC when its tables are wrong.
 */
export function openAgent(definition: AgentDefinition, env: Partial<AgentEnv> = {}): AgentSource {
  return new Agent(definition, env)
}

class Agent implements AgentSource {
  readonly agent: string
  readonly domain: number
  readonly #env: AgentEnv
  #compiled: CompiledAgent
  #names: AgentNames
  #tools: FetchTools
  readonly #listeners = new Set<(event: SourceEvent) => void>()
  #isClosed = false

  constructor(definition: AgentDefinition, env: Partial<AgentEnv>) {
    this.agent = definition.name
    this.domain = env.domain ?? definition.domain
    this.#env = {
      domain: this.domain,
      root: env.root ?? '/',
      env: env.env ?? process.env,
      log: env.log ?? (() => {}),
      clock: env.clock ?? Date.now,
      announce: (event) => this.#announce(event),
      replaceTables: (tables) => this.#replace(tables),
    }
    const tables = definition.open(this.#env)
    checkTables(this.agent, tables)
    this.#compiled = compile(this.domain, tables)
    this.#names = new AgentNames(this.#compiled)
    const reports = new Reports(this.#env.log)
    this.#tools = { writer: new ValueSetWriter(), reports, indoms: this.#compiled.indoms }
  }

  names(): Iterable<NamedId> {
    return this.#names.forCollector()
  }

  async children(name: string, ask: Ask): Promise<readonly Child[]> {
    this.#begin('names', ask)
    return this.#names.children(name)
  }

  async traverse(name: string, ask: Ask): Promise<readonly string[]> {
    this.#begin('names', ask)
    return this.#names.traverse(name)
  }

  async lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    this.#begin('names', ask)
    return names.map((name) => this.#names.lookup(name))
  }

  async lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    this.#begin('names', ask)
    const names = this.#names.namesOf(id)
    if (names.length === 0) throw unknownMetric(id)
    return names
  }

  async descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    this.#begin('descs', ask)
    return ids.map((id) => {
      const metric = this.#compiled.metrics.get(id)
      if (metric === undefined) return unknownMetric(id)
      try {
        return descOf(metric)
      } catch (thrown) {
        return this.#tools.reports.thrown(metric.name, thrown)
      }
    })
  }

  async instances(id: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    this.#begin('instances', ask)
    const indom = this.#compiled.indoms.get(id)
    if (indom === undefined) throw new PcpError('PM_ERR_INDOM', `No instance domain ${indomStr(id)}`)
    return this.#guard(() => indom.find(query, ask.moment))
  }

  async text(query: TextQuery, ask: Ask): Promise<string> {
    this.#begin('text', ask)
    const table = query.kind === 'metric' ? this.#compiled.metrics : this.#compiled.indoms
    const spec = table.get(query.id)?.spec
    if (spec === undefined) throw new PcpError('PM_ERR_TEXT')
    if (spec.texts !== undefined) {
      const text = spec.texts[query.level]
      if (text === undefined) throw new PcpError('PM_ERR_TEXT')
      return text
    }
    return query.level === 'oneline' ? spec.help : wrapText(spec.text ?? spec.help)
  }

  async labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    this.#begin('labels', ask)
    return this.#guard(() => labelsOf(this.agent, this.#compiled, query, ask))
  }

  async fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    this.#begin('fetch', ask)
    const { tables, metrics } = this.#compiled
    if (tables.beforeFetch !== undefined) this.#guard(() => tables.beforeFetch?.(ask))
    const moment = ask.moment ?? {}
    const sets = new Array<ValueSet>(ids.length)
    for (let i = 0; i < ids.length; i++) {
      const metric: AgentMetric | undefined = metrics.get(ids[i]!)
      sets[i] =
        metric === undefined
          ? emptySet(ids[i]!, UNKNOWN_METRIC)
          : fetchMetric(metric, ask, moment, this.#tools)
    }
    return { timestamp: fromMillis(this.#env.clock()), changes: 0, sets }
  }

  async store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    this.#begin('store', ask)
    for (const set of sets) {
      const metric = this.#compiled.metrics.get(set.pmid)
      if (metric === undefined) throw unknownMetric(set.pmid)
      this.#guard(() => storeSet(metric, set, ask))
    }
  }

  endClient(client: number): void {
    try {
      this.#compiled.tables.endClient?.(client)
    } catch (thrown) {
      this.#tools.reports.thrown(this.agent, thrown) // nobody has asked: only the log can hear of it
    }
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#listeners.clear()
    this.#guard(() => this.#compiled.tables.close?.())
  }

  /** Lets the agent see a request, and refuse it. */
  #begin(kind: RequestKind, ask: Ask): void {
    const { beforeRequest } = this.#compiled.tables
    if (beforeRequest !== undefined) this.#guard(() => beforeRequest(kind, ask))
  }

  #replace(tables: AgentTables): void {
    checkTables(this.agent, tables)
    const compiled = compile(this.domain, tables)
    this.#names = new AgentNames(compiled)
    this.#compiled = compiled
    this.#tools = { ...this.#tools, indoms: compiled.indoms }
    this.#announce({ type: 'changed', changes: PMCD_NAMES_CHANGE })
  }

  /** Runs callbacks of the agent: what they throw becomes a PcpError, and a defect is told in the log. */
  #guard<T>(run: () => T): T {
    try {
      return run()
    } catch (thrown) {
      if (thrown instanceof PcpError) throw thrown
      throw this.#tools.reports.thrown(this.agent, thrown)
    }
  }

  #announce(event: SourceEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

const UNKNOWN_METRIC: number = new PcpError('PM_ERR_PMID').status

function unknownMetric(id: Pmid): PcpError {
  return new PcpError('PM_ERR_PMID', `No metric ${pmidStr(id)}: unknown or illegal metric identifier`)
}
