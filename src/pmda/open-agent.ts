/** An open agent: a MetricSource backed by tables. docs/reference/agent-toolkit.md */
import { fromMillis } from '../base/timestamp.ts'
import { withTimeout } from '../base/within.ts'
import { debug, trace } from '../model/debug.ts'
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
import type { HelpFile } from './help-file.ts'
import { labelsOf } from './labels.ts'
import { MetricErrorLog } from './metric-error-log.ts'
import { AgentNames, type NamedId } from './names.ts'
import { Prefetches } from './prefetches.ts'
import { storeSet } from './store.ts'

/** An agent in this process. Changes are sent as events, never in `FetchResult.changes`. */
export interface AgentSource extends MetricSource {
  /** Name without 'pmda'. */
  readonly agent: string
  /** The domain it was opened with. */
  readonly domain: number
  /**
   * Returns every name and its PMID, in table order, for a collector's name space. A dynamic subtree is one name with the
   * PMID of a dynamic root.
   */
  names(): Iterable<NamedId>
}

/**
 * Opens an agent in this process. Defaults of `env`: the definition's domain, the root of the file system, this process's
 * environment, the wall clock, no options, and no log. Texts in `help` take precedence over those of the tables.
 * EINVAL when the tables are wrong.
 */
export function openAgent(
  definition: AgentDefinition,
  env: Partial<AgentEnv> = {},
  help?: HelpFile,
): AgentSource {
  return new Agent(definition, env, help)
}

/** Returns the current tables of an open agent; undefined for other sources. */
export function tablesOf(source: AgentSource): AgentTables | undefined {
  return source instanceof Agent ? source.tables : undefined
}

class Agent implements AgentSource {
  readonly agent: string
  readonly domain: number
  readonly #env: AgentEnv
  readonly #help: HelpFile | undefined
  #compiled: CompiledAgent
  /** Compiled tables returned by `tablesFor`. */
  readonly #elsewhere = new WeakMap<object, CompiledAgent>()
  #names: AgentNames
  #tools: FetchTools
  readonly #listeners = new Set<(event: SourceEvent) => void>()
  readonly #prefetches: Prefetches
  #closing: Promise<void> | undefined

  constructor(definition: AgentDefinition, env: Partial<AgentEnv>, help: HelpFile | undefined) {
    this.#help = help
    this.agent = definition.name
    this.domain = env.domain ?? definition.domain
    this.#env = {
      domain: this.domain,
      root: env.root ?? '/',
      ...ownerOf(env),
      env: env.env ?? process.env,
      log: env.log ?? (() => {}),
      clock: env.clock ?? Date.now,
      timeoutMs: env.timeoutMs ?? (() => PREFETCH_MS),
      options: env.options ?? {},
      announce: (event) => this.#announce(event),
      replaceTables: (tables) => this.#replace(tables),
    }
    this.#prefetches = new Prefetches(this.#env.timeoutMs!)
    const tables = definition.open(this.#env)
    checkTables(this.agent, tables)
    this.#compiled = compile(this.domain, tables)
    this.#names = new AgentNames(this.#compiled)
    const reports = new MetricErrorLog(this.#env.log)
    this.#tools = { writer: new ValueSetWriter(), reports, indoms: this.#compiled.indoms }
  }

  names(): Iterable<NamedId> {
    return this.#names.forCollector()
  }

  get tables(): AgentTables {
    return this.#compiled.tables
  }

  async children(name: string, ask: Ask): Promise<readonly Child[]> {
    return this.#serve('names', ask, () => this.#names.children(name))
  }

  async traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return this.#serve('names', ask, () => this.#names.traverse(name))
  }

  async lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    return this.#serve('names', ask, () => names.map((name) => this.#names.lookup(name)))
  }

  async lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return this.#serve('names', ask, () => {
      const names = this.#names.namesOf(id)
      if (names.length === 0) throw unknownMetric(id)
      return names
    })
  }

  async descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    return this.#serve('descs', ask, () => ids.map((id) => this.#desc(id)))
  }

  async instances(id: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    return this.#serve('instances', ask, () => {
      const indom = this.#for(ask).indoms.get(id)
      if (indom === undefined) throw new PcpError('PM_ERR_INDOM', `No instance domain ${indomStr(id)}`)
      return this.#guard(() => indom.find(query, ask))
    })
  }

  async text(query: TextQuery, ask: Ask): Promise<string> {
    return this.#serve('text', ask, () => this.#text(query))
  }

  async labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    return this.#serve('labels', ask, () =>
      this.#guard(() => labelsOf(this.agent, this.#for(ask), query, ask)),
    )
  }

  async fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    // Requests over a pipe have no batch: give the metrics of a fetch a common one, so that each file is read once.
    const asked = ask.batch === undefined ? { batch: {}, ...ask } : ask
    return this.#serve('fetch', asked, () => this.#fetch(ids, asked))
  }

  async store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    this.#serve('store', ask, () => {
      const { metrics } = this.#for(ask)
      for (const set of sets) {
        const metric = metrics.get(set.pmid)
        if (metric === undefined) throw unknownMetric(set.pmid)
        this.#guard(() => storeSet(metric, set, ask, this.#env.owner))
      }
    })
  }

  endClient(client: number): void {
    try {
      this.#compiled.tables.endClient?.(client)
    } catch (thrown) {
      this.#tools.reports.thrown(this.agent, thrown) // not a request, so the error can only be logged
    }
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutdown()
    return this.#closing
  }

  async #shutdown(): Promise<void> {
    this.#listeners.clear()
    const closing = this.#guard(() => this.#compiled.tables.close?.())
    if (!(closing instanceof Promise)) return
    const over = closing.then(() => true)
    const isOver = await withTimeout(CLOSE_MS, over).catch((thrown: unknown) => {
      throw this.#tools.reports.thrown(this.agent, thrown)
    })
    if (isOver !== true)
      this.#env.log('warning', `close did not end within ${CLOSE_MS} ms; not waiting any longer`)
  }

  #desc(id: Pmid): Outcome<MetricDesc> {
    const metric = this.#compiled.metrics.get(id)
    if (metric === undefined) return unknownMetric(id)
    try {
      return descOf(metric)
    } catch (thrown) {
      return this.#tools.reports.thrown(metric.name, thrown)
    }
  }

  #text({ kind, id, level }: TextQuery): string {
    const record = this.#help?.find(kind, id)
    if (record !== undefined) return level === 'oneline' ? record.oneline : record.help
    const table = kind === 'metric' ? this.#compiled.metrics : this.#compiled.indoms
    const spec = table.get(id)?.spec
    if (spec === undefined) throw new PcpError('PM_ERR_TEXT')
    if (spec.texts !== undefined) {
      const text = spec.texts[level]
      if (text === undefined) throw new PcpError('PM_ERR_TEXT')
      return text
    }
    return level === 'oneline' ? spec.help : wrapText(spec.text ?? spec.help)
  }

  /** Fetches metrics with a prefetch last, so that other threads work in the meantime. */
  #fetch(ids: readonly Pmid[], ask: Ask): FetchResult | Promise<FetchResult> {
    const { beforeFetch } = this.#compiled.tables
    if (beforeFetch !== undefined) this.#guard(() => beforeFetch(ask))
    const sets = new Array<ValueSet>(ids.length)
    const compiled = this.#for(ask)
    const metrics = ids.map((id) => compiled.metrics.get(id))
    const tools = compiled === this.#compiled ? this.#tools : { ...this.#tools, indoms: compiled.indoms }
    const fetch = (i: number): void => {
      const metric = metrics[i]
      sets[i] =
        metric === undefined ? emptySet(ids[i]!, UNKNOWN_METRIC) : fetchMetric(metric, ask, ask.batch!, tools)
    }
    const result = (): FetchResult => ({ timestamp: fromMillis(this.#env.clock()), changes: 0, sets })
    const later: number[] = []
    const begun = new Map<AgentMetric, Promise<void>>()
    for (let i = 0; i < ids.length; i++) {
      const metric = metrics[i]
      if (metric?.prefetch === undefined) continue
      const prefetch = begun.get(metric) ?? this.#prefetches.begin(metric, ask)
      if (prefetch === undefined) continue
      begun.set(metric, prefetch)
      later.push(i)
    }
    for (let i = 0, next = 0; i < ids.length; i++)
      if (i === later[next]) next++
      else fetch(i)
    if (later.length === 0) return result()
    return this.#prefetches.wait(begun).then((late) => {
      for (const i of later) {
        if (late.has(metrics[i]!)) {
          sets[i] = emptySet(ids[i]!, TIMEOUT)
          tools.reports.failure(
            metrics[i]!.name,
            new PcpError('PM_ERR_TIMEOUT', 'prefetch did not end in time'),
          )
        } else fetch(i)
      }
      return result()
    })
  }

  /** The tables for a requester. */
  #for(ask: Ask): CompiledAgent {
    const { tablesFor } = this.#compiled.tables
    const tables = tablesFor === undefined ? undefined : this.#guard(() => tablesFor(ask))
    if (tables === undefined) return this.#compiled
    let compiled = this.#elsewhere.get(tables)
    if (compiled === undefined) {
      checkTables(this.agent, tables)
      compiled = compile(this.domain, { ...this.#compiled.tables, ...tables })
      this.#elsewhere.set(tables, compiled)
    }
    return compiled
  }

  /** Answers a request between the agent's hooks; `beforeRequest` may refuse it. */
  #serve<T>(kind: RequestKind, ask: Ask, answer: () => T): T {
    const { beforeRequest, afterRequest } = this.#compiled.tables
    if (debug.libpmda) trace('libpmda', `${this.agent}: ${kind} for client ${ask.requester.client}`)
    if (beforeRequest !== undefined) this.#guard(() => beforeRequest(kind, ask))
    if (afterRequest === undefined) return answer()
    const after = (): void => this.#guard(() => afterRequest(kind, ask))
    let answered: T
    try {
      answered = answer()
    } catch (thrown) {
      after()
      throw thrown
    }
    if (answered instanceof Promise) return answered.finally(after) as T
    after()
    return answered
  }

  #replace(tables: AgentTables): void {
    checkTables(this.agent, tables)
    const compiled = compile(this.domain, tables)
    this.#names = new AgentNames(compiled)
    this.#compiled = compiled
    this.#tools = { ...this.#tools, indoms: compiled.indoms }
    this.#announce({ type: 'changed', changes: PMCD_NAMES_CHANGE })
  }

  /** Runs a callback of the agent: an exception becomes a PcpError, and defects are logged. */
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
const TIMEOUT: number = new PcpError('PM_ERR_TIMEOUT').status
/** Default time limit of `prefetch`. */
const PREFETCH_MS = 5000
/** Time limit of `close`. */
const CLOSE_MS = 5000

function unknownMetric(id: Pmid): PcpError {
  return new PcpError('PM_ERR_PMID', `No metric ${pmidStr(id)}: unknown or illegal metric identifier`)
}

function ownerOf({ owner = process.geteuid?.() }: Partial<AgentEnv>): Pick<AgentEnv, 'owner'> {
  return owner === undefined ? {} : { owner }
}
