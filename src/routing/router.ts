/**
 * Many agents as one source: routes each request to the agent of its domain and combines the replies. Shared by the
 * collector and local contexts. pmcd(1)
 */
import { now } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError, statusOf } from '../model/errors.ts'
import { clusterOf, domainOf, type Indom, indomStr, isDynamicRoot, type Pmid, pmidStr } from '../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
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
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { Pmns } from '../pmns/tree.ts'

const NOAGENT: number = statusOf('PM_ERR_NOAGENT')
const DOMAINS = 512

/** Route to the agent of a domain, whatever the agent's state. */
export interface Route {
  readonly domain: number
  /** Status that requests are rejected with, or 0. */
  readonly refusal: number
  /** Sends a request to the agent. Rejects with the refusal or the agent's PcpError. */
  request<T>(question: (source: MetricSource) => Promise<T>): Promise<T>
  /** Notifies the agent that the client in this slot has left. */
  endClient(client: number): void
}

/** Tables of a router, replaced as a whole when the configuration changes. */
export interface RouterTables {
  readonly slots: readonly Route[]
  readonly pmns: Pmns
  /** Route for all other domains; default: their metrics and instance domains do not exist. */
  readonly defaultRoute?: Route
}

/** Services of the router's owner. */
export interface RouterHost {
  /** Returns the host's labels for a requester. */
  readonly contextLabels: (ask: Ask) => LabelSet
  /** Called when an agent's reply had PMCD_* changes. */
  readonly changed: (changes: number) => void
  /** Closes the agents, if the router owns them. */
  readonly close?: () => Promise<void>
}

/** A MetricSource over the metrics of many agents. */
export class Router implements MetricSource {
  readonly #host: RouterHost
  readonly #listeners = new Set<(event: SourceEvent) => void>()
  #pmns: Pmns
  #byDomain: (Route | undefined)[] = []
  #slots: readonly Route[] = []

  constructor(tables: RouterTables, host: RouterHost) {
    this.#host = host
    this.#pmns = tables.pmns
    this.setTables(tables)
  }

  /** Replaces the tables. */
  setTables(tables: RouterTables): void {
    this.#pmns = tables.pmns
    this.#slots = tables.slots
    this.#byDomain = new Array(DOMAINS).fill(tables.defaultRoute)
    for (const slot of tables.slots) this.#byDomain[slot.domain] = slot
  }

  /** Emits an event to subscribers. */
  announce(event: SourceEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  async children(name: string, ask: Ask): Promise<readonly Child[]> {
    const id = name === '' ? undefined : this.#pmns.lookup(name)
    if (typeof id === 'number' && isDynamicRoot(id))
      return this.#dynamic(id).request((source) => source.children(name, ask))
    return this.#pmns.children(name)
  }

  async traverse(name: string, ask: Ask): Promise<readonly string[]> {
    const id = name === '' ? undefined : this.#pmns.lookup(name)
    if (typeof id === 'number' && isDynamicRoot(id)) return this.#traverseDynamic(name, id, ask)
    const parts: (string | Promise<readonly string[]>)[] = []
    this.#pmns.walk(name, (leaf, leafId) => {
      const isDynamic = isDynamicRoot(leafId)
      // An agent that fails for its subtree contributes its bare name; the rest of the name space is still listed.
      parts.push(isDynamic ? this.#traverseDynamic(leaf, leafId, ask).catch(() => [leaf]) : leaf)
    })
    const names: string[] = []
    for (const part of parts) {
      if (typeof part === 'string') names.push(part)
      else names.push(...(await part))
    }
    return names
  }

  async lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    const found: (Outcome<Pmid> | Promise<Outcome<Pmid>>)[] = names.map((name) => {
      const id = this.#pmns.lookup(name)
      return typeof id === 'number' && isDynamicRoot(id) ? this.#lookupDynamic(name, id, ask) : id
    })
    return Promise.all(found)
  }

  async lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    const names = this.#pmns.namesOf(id)
    if (names.length > 0) return names
    const domain = domainOf(id)
    const slot = this.#byDomain[domain]
    if (slot === undefined)
      throw new PcpError('PM_ERR_NOAGENT', `No agent for domain ${domain} of ${pmidStr(id)}`)
    if (this.#pmns.dynamicRoots(domain).length === 0) throw noMetric(id)
    return slot.request((source) => source.lookupId(id, ask))
  }

  async descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    const descs: Outcome<MetricDesc>[] = ids.map(noMetric)
    const groups = this.#split(ids)
    await Promise.all(
      groups.map(async ({ slot, places }) => {
        if (slot === undefined) return
        const wanted = places.map((place) => ids[place]!)
        const found = await slot.request((source) => source.descs(wanted, ask)).catch(PcpError.from)
        for (let i = 0; i < places.length; i++)
          descs[places[i]!] = found instanceof PcpError ? found : (found[i] ?? noMetric(wanted[i]!))
      }),
    )
    return descs
  }

  async instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    const slot = this.#byDomain[domainOf(indom)]
    if (slot === undefined) throw noIndom(indom)
    return slot.request((source) => source.instances(indom, query, ask))
  }

  async text(query: TextQuery, ask: Ask): Promise<string> {
    const slot = this.#byDomain[domainOf(query.id)]
    // Like PCP, PM_ERR_PMID also for the text of an instance domain.
    if (slot === undefined) throw noMetric(query.id)
    return slot.request((source) => source.text(query, ask))
  }

  async labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    const { level, id } = query
    if (level === LABEL_CONTEXT) return [this.#host.contextLabels(ask)]
    const domain = level === LABEL_DOMAIN ? id : domainOf(id)
    const slot = this.#byDomain[domain]
    if (slot !== undefined && LABEL_LEVELS.has(level))
      return slot.request((source) => source.labels(query, ask))
    switch (level) {
      case LABEL_DOMAIN:
        throw new PcpError('PM_ERR_NOAGENT', `No agent for domain ${domain}`)
      case LABEL_CLUSTER:
      case LABEL_ITEM:
        throw noMetric(id)
      case LABEL_INDOM:
      case LABEL_INSTANCES:
        throw noIndom(id)
      default:
        throw new PcpError('PM_ERR_TYPE', `No labels of level ${level}`)
    }
  }

  /** Hot path: metrics of a single agent are passed through without splitting. */
  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const domain = ids.length === 0 ? 0 : domainOf(ids[0]!)
    for (let i = 1; i < ids.length; i++) if (domainOf(ids[i]!) !== domain) return this.#fetchMany(ids, ask)
    return this.#fetchFrom(this.#byDomain[domain], ids, ask)
  }

  async store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    const groups = this.#split(sets.map((set) => set.pmid))
    const outcomes = await Promise.all(
      groups.map(({ slot, places }) => {
        if (slot === undefined) return new PcpError('PM_ERR_NOAGENT')
        const part = places.map((place) => sets[place]!)
        return slot.request((source) => source.store(part, ask)).catch(PcpError.from)
      }),
    )
    const errors = outcomes.filter((outcome) => outcome instanceof PcpError)
    const first = STORE_PRECEDENCE.map((code) => errors.find((error) => error.code === code)).find(
      (error) => error !== undefined,
    )
    const error = first ?? errors.at(-1)
    if (error !== undefined) throw error
  }

  endClient(client: number): void {
    for (const slot of this.#slots) slot.endClient(client)
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#host.close?.()
  }

  async #fetchMany(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const sets = new Array<ValueSet>(ids.length)
    let changes = 0
    await Promise.all(
      this.#split(ids).map(async ({ slot, places }) => {
        const wanted = places.map((place) => ids[place]!)
        const part = await this.#fetchFrom(slot, wanted, ask)
        for (let i = 0; i < places.length; i++) sets[places[i]!] = part.sets[i]!
        changes |= part.changes
      }),
    )
    return { timestamp: now(), changes, sets }
  }

  /** Fetches one agent's metrics; an error of the agent becomes the status of each metric. */
  #fetchFrom(slot: Route | undefined, ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const refusal = slot === undefined ? NOAGENT : slot.refusal
    if (refusal !== 0) return Promise.resolve(failed(ids, refusal))
    const fail = (error: unknown): FetchResult => failed(ids, PcpError.from(error).status)
    try {
      return slot!
        .request((source) => source.fetch(ids, ask))
        .then(({ changes, sets }) => {
          if (changes !== 0) this.#host.changed(changes)
          return { timestamp: now(), changes, sets }
        }, fail)
    } catch (error) {
      return Promise.resolve(fail(error))
    }
  }

  /** Groups the indexes of ids by agent, in order. */
  #split(ids: readonly Pmid[]): { slot: Route | undefined; places: number[] }[] {
    const groups = new Map<Route | undefined, number[]>()
    for (let i = 0; i < ids.length; i++) {
      const slot = this.#byDomain[domainOf(ids[i]!)]
      const places = groups.get(slot)
      if (places === undefined) groups.set(slot, [i])
      else places.push(i)
    }
    return [...groups].map(([slot, places]) => ({ slot, places }))
  }

  #dynamic(id: Pmid): Route {
    const slot = this.#byDomain[clusterOf(id)]
    if (slot === undefined)
      throw new PcpError('PM_ERR_NOAGENT', `No agent for domain ${clusterOf(id)} of a dynamic subtree`)
    return slot
  }

  async #lookupDynamic(name: string, id: Pmid, ask: Ask): Promise<Outcome<Pmid>> {
    try {
      const [found] = await this.#dynamic(id).request((source) => source.lookupNames([name], ask))
      return found ?? new PcpError('PM_ERR_NAME', `Unknown metric name: "${name}"`)
    } catch (error) {
      return PcpError.from(error)
    }
  }

  async #traverseDynamic(name: string, id: Pmid, ask: Ask): Promise<readonly string[]> {
    try {
      return await this.#dynamic(id).request((source) => source.traverse(name, ask))
    } catch (error) {
      const { code } = PcpError.from(error)
      const isRoot = this.#pmns.dynamicRoots(clusterOf(id)).includes(name)
      if (isRoot && (code === 'PM_ERR_NOAGENT' || code === 'PM_ERR_PMDAFENCED')) return [name]
      throw error
    }
  }
}

const LABEL_LEVELS: ReadonlySet<number> = new Set([
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_CLUSTER,
  LABEL_ITEM,
  LABEL_INSTANCES,
])

/** Order in which errors of a store take precedence; of other errors the last counts. */
const STORE_PRECEDENCE = ['PM_ERR_IPC', 'PM_ERR_TIMEOUT', 'PM_ERR_NOAGENT', 'PM_ERR_AGAIN'] as const

function failed(ids: readonly Pmid[], status: number): FetchResult {
  return { timestamp: now(), changes: 0, sets: ids.map((id) => emptySet(id, status)) }
}

function noMetric(id: Pmid): PcpError {
  return new PcpError('PM_ERR_PMID', `No agent or metric for ${pmidStr(id)}`)
}

function noIndom(indom: Indom): PcpError {
  return new PcpError('PM_ERR_INDOM', `No agent for instance domain ${indomStr(indom)}`)
}
