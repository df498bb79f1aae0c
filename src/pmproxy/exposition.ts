/** Values with all metadata, for the exporting formats. docs/reference/pmproxy.md */
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { mergeLabelSets } from '../model/label-set.ts'
import { LABEL_CONTEXT, type Label, type LabelSet } from '../model/labels.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'
import type { WebContext } from './contexts.ts'
import { describeNames, isKnown, orUndefined } from './describe.ts'
import { type MatchKind, matchNames } from './match.ts'

/** Maximum number of metrics in one request, and in one fetch. */
const MOST_METRICS = 50_000
const FETCH_BATCH = 1024

/** Selects metrics. */
export interface ExposedQuery {
  /** Names or nodes above them; empty for all metrics. */
  readonly names: readonly string[]
  /** Metrics to leave out. */
  readonly without: readonly string[]
  readonly match: MatchKind
}

/** A metric with its values. */
export interface ExposedMetric {
  readonly name: string
  readonly desc: MetricDesc
  readonly help: string
  /** Merged labels of all levels above its instances, sorted by name. */
  readonly labels: readonly Label[]
  readonly set: ValueSet
  readonly instances: ExposedIndom | undefined
}

/** Names and labels of instances, by number. */
export interface ExposedIndom {
  readonly names: ReadonlyMap<number, string>
  readonly labels: ReadonlyMap<number, LabelSet>
}

/** The selected metrics with values of one time. */
export interface Exposition {
  readonly contextLabels: readonly Label[]
  readonly time: FetchResult['timestamp']
  readonly metrics: readonly ExposedMetric[]
}

/** Fetches the numeric metrics of a query. PM_ERR_NAME with PCP's text if none of the names exists. */
export async function expose(
  web: WebContext,
  query: ExposedQuery,
  options: CallOptions,
): Promise<Exposition> {
  const { context } = web
  const wanted = await numericMetrics(context, query, options)
  const unique = [...new Map(wanted.map(({ desc }) => [desc.pmid, desc])).values()]
  const sets = new Map<Pmid, ValueSet>()
  let time: FetchResult['timestamp'] | undefined
  for (let at = 0; at < unique.length; at += FETCH_BATCH) {
    const ids = unique.slice(at, at + FETCH_BATCH).map(({ pmid }) => pmid)
    const result = await web.fetch(ids, options)
    time ??= result.timestamp
    result.sets.forEach((set, i) => {
      if (set.status > 0) sets.set(ids[i]!, set)
    })
  }
  const known = new Known(context, options)
  const filled = wanted.filter(({ desc }) => sets.has(desc.pmid))
  const metrics = await Promise.all(
    filled.map(async ({ name, desc }) => {
      const [labels, help, instances] = await Promise.all([
        known.labels(desc),
        orUndefined(context.text(desc.pmid, { ...options, level: 'oneline' })),
        known.instances(desc.indom),
      ])
      return { name, desc, labels, help: help ?? '', instances, set: sets.get(desc.pmid)! }
    }),
  )
  const { labels: contextLabels } = mergeLabelSets(await known.context())
  return { contextLabels, time: time ?? { sec: Math.floor(Date.now() / 1000), nsec: 0 }, metrics }
}

async function numericMetrics(
  context: Context,
  { names, without, match }: ExposedQuery,
  options: CallOptions,
): Promise<{ name: string; desc: MetricDesc }[]> {
  const found = new Set<string>()
  const isAll = names.length === 0
  for (const each of isAll ? [''] : names) {
    const leaves = await context.traverse(each, options).catch((error: unknown) => {
      if (error instanceof PcpError && error.code.startsWith('PM_ERR_')) return undefined
      throw error
    })
    for (const leaf of leaves ?? []) found.add(leaf)
  }
  if (found.size === 0 && !isAll) throw new PcpError('PM_ERR_NAME', `'${names.at(-1)}' - Unknown metric name`)
  if (found.size > MOST_METRICS)
    throw new PcpError('E2BIG', `More than ${MOST_METRICS} metrics; select fewer with names=`)
  const all = [...found]
  const isLeftOut = without.length === 0 ? [] : matchNames(match, without, all)
  const described = await describeNames(
    context,
    all.filter((_, i) => isLeftOut[i] !== true),
    options,
  )
  const numeric = described.filter(isKnown).filter(({ desc }) => desc.type <= PM_TYPE_DOUBLE)
  if (isAll) return numeric
  return withAliases(context, numeric, { without, match }, options)
}

/** Adds other names of the same metrics, which belong to the response too. */
async function withAliases(
  context: Context,
  metrics: { name: string; desc: MetricDesc }[],
  { without, match }: Pick<ExposedQuery, 'without' | 'match'>,
  options: CallOptions,
): Promise<{ name: string; desc: MetricDesc }[]> {
  const names = new Set(metrics.map(({ name }) => name))
  const others = await Promise.all(
    metrics.map(async ({ desc }) => {
      const all = (await orUndefined(context.namesOf(desc.pmid, options))) ?? []
      return all.map((name) => ({ name, desc }))
    }),
  )
  const fresh = others.flat().filter(({ name }) => !names.has(name) && names.add(name))
  const isLeftOut =
    without.length === 0
      ? []
      : matchNames(
          match,
          without,
          fresh.map(({ name }) => name),
        )
  return [...metrics, ...fresh.filter((_, i) => isLeftOut[i] !== true)]
}

/** Caches what several metrics share, so that it is requested once. */
class Known {
  readonly #context: Context
  readonly #options: CallOptions
  readonly #sets = new Map<string, Promise<readonly LabelSet[]>>()
  readonly #instances = new Map<Indom, Promise<ExposedIndom>>()
  readonly #merged = new Map<string, Promise<readonly Label[]>>()

  constructor(context: Context, options: CallOptions) {
    this.#context = context
    this.#options = options
  }

  context(): Promise<readonly LabelSet[]> {
    return this.#once(`${LABEL_CONTEXT}`, () => this.#context.contextLabels(this.#options))
  }

  /** Returns merged labels; metrics without labels of their own share one list. */
  async labels(desc: MetricDesc): Promise<readonly Label[]> {
    const { pmid, indom } = desc
    const own = await this.#once(`item ${pmid}`, () => this.#context.itemLabels(pmid, this.#options))
    if (own.length > 0) return mergeLabelSets([...(await this.#above(desc)), ...own]).labels
    const key = `${pmid >>> 10} ${indom}`
    const merged = this.#merged.get(key) ?? this.#above(desc).then((sets) => mergeLabelSets(sets).labels)
    this.#merged.set(key, merged)
    return merged
  }

  /** Returns the label sets of all levels above a metric. */
  async #above({ pmid, indom }: MetricDesc): Promise<readonly LabelSet[]> {
    const context = this.#context
    const options = this.#options
    const domain = domainOf(pmid)
    const cluster = pmid >>> 10
    const sets = await Promise.all([
      this.context(),
      this.#once(`domain ${domain}`, () => context.domainLabels(domain, options)),
      indom === PM_INDOM_NULL ? [] : this.#once(`indom ${indom}`, () => context.indomLabels(indom, options)),
      this.#once(`cluster ${cluster}`, () => context.clusterLabels(pmid, options)),
    ])
    return sets.flat()
  }

  async instances(indom: Indom): Promise<ExposedIndom | undefined> {
    if (indom === PM_INDOM_NULL) return undefined
    const known = this.#instances.get(indom)
    if (known !== undefined) return known
    const asked = this.#askInstances(indom)
    this.#instances.set(indom, asked)
    return asked
  }

  async #askInstances(indom: Indom): Promise<ExposedIndom> {
    const [found, sets] = await Promise.all([
      orUndefined(this.#context.instances(indom, this.#options)),
      orUndefined(this.#context.instancesLabels(indom, this.#options)),
    ])
    return {
      names: new Map(found?.ids.map((id, i) => [id, found.names[i]!])),
      labels: new Map(sets?.map((set) => [set.inst, set])),
    }
  }

  #once(key: string, ask: () => Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const asked = orUndefined(ask()).then((sets) => sets ?? [])
    this.#sets.set(key, asked)
    return asked
  }
}
