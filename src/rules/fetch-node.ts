/** Fetched values of a metric as a node: canonical units, counters as rates, a history of samples. docs/reference/pmie.md */
import { PM_INDOM_NULL } from '../model/ids.ts'
import { Counters } from '../model/rate.ts'
import { PM_SEM_COUNTER, PM_TYPE_STRING } from '../model/types.ts'
import { NO_VALUE, NO_VALUES, ValueColumns } from '../model/value-columns.ts'
import { extract } from '../model/value-set.ts'
import type { ValueSet } from '../model/values.ts'
import type { KnownMetric, MetricFeed } from './host.ts'
import { type Cell, type Domains, type Layout, makeNode, type Node, resetNode } from './node.ts'
import type { FetchExpr } from './syntax.ts'
import { canonicalFactor } from './units.ts'

/** Returns whether the metric is a string. Unknown metrics count as numbers. */
export function isTextFeed(feeds: readonly MetricFeed[]): boolean {
  return feeds.some(({ known }) => known?.desc.type === PM_TYPE_STRING)
}

function domainsOf(feeds: readonly MetricFeed[], { instances, from, to }: FetchExpr): Domains {
  let size = 0
  for (const { known } of feeds) size += instances.length > 0 ? instances.length : (known?.size ?? 1)
  return { hosts: feeds.length, instances: size, samples: to - from + 1 }
}

/** How counters are read. */
export interface CounterUse {
  /** Use raw values instead of rates. */
  readonly isInstant: boolean
  /** A counter that decreased has wrapped once. */
  readonly wraps: boolean
}

/** Builds a node with the values of a metric on one or more hosts. */
export function fetchNode(feeds: readonly MetricFeed[], expr: FetchExpr, use: CounterUse): Node {
  const { isInstant } = use
  const state = new Fetched(feeds, expr, use)
  const kind = isTextFeed(feeds) ? 'text' : 'number'
  const domains = domainsOf(feeds, expr)
  const samples = expr.to - expr.from + 1
  const layout = state.layout
  const isCounter = feeds.some(({ known }) => known?.desc.sem === PM_SEM_COUNTER)
  const node = makeNode({ kind, domains, samples, role: 'fetch', args: [], layout }, (self) => {
    state.read()
    if (state.layout !== self.layout) resetNode(self, state.layout)
    self.valid = Math.max(0, state.valid - expr.from)
    self.values = state.values
    if (kind === 'text') self.texts = state.texts
    // The rate of a counter needs two readings even to know that there are no instances.
    self.isListed = expr.from === 0 && !isInstant && state.readings > (isCounter ? 1 : 0)
  })
  node.isUntyped = feeds.every(({ known }) => known === undefined)
  return node
}

/** The values of one host within the node's cells. */
interface Part {
  readonly feed: MetricFeed
  /** Its first cell. */
  start: number
  count: number
  /** Instance ids of these cells; undefined: one cell without an instance. */
  ids: Int32Array | undefined
  /** Instances of the last value set examined, and how many of them have values. */
  seen: Int32Array | undefined
  seenCount: number
  /** Indexes into that set by ascending instance; undefined if already sorted. */
  order: Int32Array | undefined
  /** Indexes into that set of the instances named in the rule, -1 if missing. */
  readonly places: Int32Array
  /** Values of the metric, and their factor to canonical units. */
  columns: ValueColumns
  factor: number
  columnsOf: KnownMetric | undefined
  /** Previous counters and their time, for rates; undefined before the first reading. */
  counters: Counters | undefined
  beforeSec: number
}

class Fetched {
  layout: Layout = []
  /** Number of valid samples counting from sample 0, even if `from` is larger. */
  valid = 0
  /** Number of readings with the current instances. */
  readings = 0
  /** Samples from `from` on. */
  values: Float64Array = new Float64Array(0)
  texts: string[] = []
  readonly #parts: readonly Part[]
  readonly #expr: FetchExpr
  readonly #isInstant: boolean
  readonly #wraps: boolean
  readonly #isText: boolean
  /** All samples, from sample 0 on. */
  #all: Float64Array = new Float64Array(0)
  #allTexts: string[] = []

  constructor(feeds: readonly MetricFeed[], expr: FetchExpr, { isInstant, wraps }: CounterUse) {
    this.#wraps = wraps
    this.#expr = expr
    this.#isInstant = isInstant
    this.#isText = isTextFeed(feeds)
    this.#parts = feeds.map((feed) => ({
      feed,
      start: 0,
      count: 0,
      ids: undefined,
      seen: undefined,
      seenCount: 0,
      order: undefined,
      places: new Int32Array(expr.instances.length),
      columns: NO_VALUES,
      factor: 1,
      columnsOf: undefined,
      counters: undefined,
      beforeSec: Number.NaN,
    }))
    this.#arrange(this.#parts.map(({ feed }) => this.#stated(feed)))
  }

  /** Reads the newest sample. */
  read(): void {
    this.#followInstances()
    this.readings++
    const n = this.layout.length
    const { to } = this.#expr
    if (to > 0) {
      this.#all.copyWithin(n, 0, to * n)
      if (this.#isText) this.#allTexts.copyWithin(n, 0, to * n)
    }
    let isKnown = n > 0
    for (const part of this.#parts) if (!this.#readPart(part)) isKnown = false
    if (!isKnown) this.valid = 0
    else if (this.valid <= to) this.valid++
    if (this.#isText)
      this.texts = this.#expr.from === 0 ? this.#allTexts : this.#allTexts.slice(this.#expr.from * n)
  }

  /** Instances named in the rule; undefined ids for a single cell, and no instances until the metric is known. */
  #stated(feed: MetricFeed): { ids: Int32Array | undefined; names: readonly (string | undefined)[] } {
    const { instances } = this.#expr
    if (instances.length > 0)
      return { ids: Int32Array.from(instances, (name) => idOf(feed, name)), names: instances }
    const isSingle = feed.known !== undefined && feed.known.desc.indom === PM_INDOM_NULL
    if (isSingle) return { ids: undefined, names: [undefined] }
    // An unknown metric has one cell without a value.
    return feed.known === undefined ? { ids: undefined, names: [undefined] } : { ids: NO_IDS, names: [] }
  }

  /** Sets up the cells for these instances and discards the history. */
  #arrange(parts: readonly { ids: Int32Array | undefined; names: readonly (string | undefined)[] }[]): void {
    const cells: Cell[] = []
    for (const [i, { ids, names }] of parts.entries()) {
      const part = this.#parts[i]!
      part.start = cells.length
      part.count = names.length
      part.ids = ids
      part.counters = undefined
      part.beforeSec = Number.NaN
      for (const inst of names) cells.push({ host: part.feed.host, inst })
    }
    const { from, to } = this.#expr
    this.layout = cells
    this.valid = 0
    this.readings = 0
    this.#all = new Float64Array((to + 1) * cells.length).fill(Number.NaN)
    this.#allTexts = new Array<string>(this.#isText ? this.#all.length : 0).fill('')
    this.values = this.#all.subarray(from * cells.length)
  }

  /** Sets up the cells again if the metric's instances changed. */
  #followInstances(): void {
    if (this.#expr.instances.length > 0) return
    let isChanged = false
    for (const part of this.#parts) {
      if (part.ids === undefined || !isOtherSet(part)) continue
      part.order = ascendingOrder(part.feed.set)
      if (!sameIds(part.ids, part.feed.set, part.order)) isChanged = true
    }
    if (!isChanged) return
    this.#arrange(
      this.#parts.map(({ feed, ids, order }) => {
        if (ids === undefined) return this.#stated(feed)
        const { set } = feed
        if (set === undefined || set.status <= 0) return { ids: NO_IDS, names: [] }
        const now = set.inst.slice(0, set.status)
        if (order !== undefined) now.sort()
        return { ids: now, names: Array.from(now, (id) => feed.known?.names.get(id) ?? `inst[${id}]`) }
      }),
    )
  }

  /** Reads the values of one host; returns false if any is missing. */
  #readPart(part: Part): boolean {
    const { feed, count } = part
    const { set, known } = feed
    if (known === undefined || set === undefined || set.status <= 0) {
      part.beforeSec = Number.NaN
      return count === 0 && this.#parts.length > 1
    }
    if (this.#expr.instances.length > 0 && isOtherSet(part))
      for (const [i, id] of part.ids!.entries()) part.places[i] = set.inst.subarray(0, set.status).indexOf(id)
    if (this.#isText) return this.#readTexts(part, set, known)
    const { desc } = known
    if (part.columnsOf !== known) {
      part.columnsOf = known
      part.columns = new ValueColumns(desc)
      part.factor = canonicalFactor(desc.units)
    }
    part.columns.fillFrom(set)
    return desc.sem === PM_SEM_COUNTER && !this.#isInstant ? this.#readRates(part) : this.#readNumbers(part)
  }

  /** Returns the index of a cell's value among `count` values; -1 if missing. */
  #placeOf(part: Part, count: number, i: number): number {
    const at =
      this.#expr.instances.length > 0 ? part.places[i]! : part.order === undefined ? i : part.order[i]!
    return at < count ? at : -1
  }

  #readTexts(part: Part, set: ValueSet, { desc }: KnownMetric): boolean {
    let isComplete = true
    for (let i = 0; i < part.count; i++) {
      const at = this.#placeOf(part, set.status, i)
      if (at < 0) isComplete = false
      else this.#allTexts[part.start + i] = String(extract(set, at, desc.type))
    }
    return isComplete
  }

  #readNumbers(part: Part): boolean {
    const { start, count, factor, columns } = part
    const { size, has, values } = columns
    const all = this.#all
    let isComplete = true
    for (let i = 0; i < count; i++) {
      const at = this.#placeOf(part, size, i)
      if (at < 0 || has[at] === NO_VALUE) isComplete = false
      else all[start + i] = values[at]! * factor
    }
    return isComplete
  }

  #readRates(part: Part): boolean {
    const { start, count, factor, beforeSec, columns } = part
    const { size, has, values, type } = columns
    part.counters ??= new Counters(count, type, this.#wraps)
    const { counters } = part
    const elapsed = part.feed.sec - beforeSec
    const all = this.#all
    let isComplete = true
    for (let i = 0; i < count; i++) {
      const at = this.#placeOf(part, size, i)
      if (at < 0 || has[at] === NO_VALUE) {
        isComplete = false
        continue
      }
      all[start + i] = (counters.next(i, values[at]!, columns, at) * factor) / elapsed
    }
    part.beforeSec = isComplete ? part.feed.sec : Number.NaN
    return isComplete && !Number.isNaN(beforeSec)
  }
}

/** Returns whether the value set may have other instances than the previous one. Sets with unchanged instances share one array. */
function isOtherSet(part: Part): boolean {
  const { set } = part.feed
  if (set !== undefined && set.inst === part.seen && set.status === part.seenCount) return false
  part.seen = set?.inst
  part.seenCount = set?.status ?? 0
  return true
}

const NO_IDS = new Int32Array(0)

/** Returns the id of an instance by its name or the first word of its name, or NO_INSTANCE. */
function idOf({ known }: MetricFeed, name: string): number {
  if (known === undefined) return NO_INSTANCE
  for (const [id, full] of known.names) if (full === name) return id
  // Both names may continue after a blank.
  const [word] = name.split(' ')
  for (const [id, full] of known.names)
    if (full === word || (full.startsWith(name) && full[name.length] === ' ')) return id
  return NO_INSTANCE
}

/** An id that no instance has; -1 denotes a metric without an instance domain. */
const NO_INSTANCE = -2

/** Returns whether a metric has an instance of that name. */
export function hasInstance(feed: MetricFeed, name: string): boolean {
  return idOf(feed, name) !== NO_INSTANCE
}

function sameIds(ids: Int32Array, set: ValueSet | undefined, order: Int32Array | undefined): boolean {
  const count = set === undefined ? 0 : Math.max(0, set.status)
  if (count !== ids.length) return false
  for (let i = 0; i < count; i++) if (ids[i] !== set!.inst[order === undefined ? i : order[i]!]) return false
  return true
}

/** Returns the indexes of values by ascending instance; undefined if already sorted. */
function ascendingOrder(set: ValueSet | undefined): Int32Array | undefined {
  if (set === undefined) return undefined
  const { inst, status } = set
  for (let i = 1; i < status; i++) {
    if (inst[i]! >= inst[i - 1]!) continue
    return Int32Array.from({ length: status }, (_, at) => at).sort((a, b) => inst[a]! - inst[b]!)
  }
  return undefined
}
