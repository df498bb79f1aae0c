/** The values of a collector, sample by sample. What cannot be sent delays the next sample; nothing is kept meanwhile. */
import type { FollowedMetric } from '../archive/follow/metadata.ts'
import { fromMillis } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import { sampleLoop } from '../pmapi/samples.ts'
import { Batch, type BatchLimits } from './batch.ts'
import type { Unsent } from './metric-series.ts'
import type { Sender } from './sender.ts'
import { type SeriesOptions, type SourceMetadata, SourceSeries } from './source-series.ts'

/** How to sample a collector. */
export interface LiveOptions extends SeriesOptions {
  /** Names of metrics or nodes above them; empty for all. */
  readonly names: readonly string[]
  readonly intervalSec: number
  /** Number of samples; undefined: until aborted. */
  readonly count: number | undefined
  readonly limits: BatchLimits
  readonly sender: Pick<Sender, 'send'>
  readonly unsent: Unsent
  /** Wall clock in milliseconds. */
  readonly now: () => number
  readonly report: (problem: string) => void
}

/** Metrics in one fetch. */
const FETCH_BATCH = 1024

/** Sends samples until `count` is reached. Rejects with the signal's reason, PM_ERR_NAME, or an error of the first connection. */
export async function sendLive(context: Context, options: LiveOptions, signal: AbortSignal): Promise<void> {
  const { names, intervalSec, count, limits, sender, unsent, now, report } = options
  const metadata = await LiveMetadata.read(context, names, signal)
  const series = new SourceSeries(metadata, await context.hostname({ signal }), options, unsent, {
    helps: metadata.helps,
  })
  const take = async (): Promise<{ readonly result: FetchResult | undefined }> => {
    try {
      if (context.away !== undefined) await context.reconnect({ signal })
      const result = await fetchAll(context, metadata.metrics, signal)
      for (const indom of metadata.unknownIn(result)) {
        await metadata.readInstances(context, indom, signal)
        series.change({ kind: 'instances', at: result.timestamp, indom })
      }
      return { result }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PcpError)) throw error
      report(error.message)
      return { result: undefined }
    }
  }
  const plan = { take, intervalSec, late: 'skip' as const, call: { signal } }
  for await (const { result } of sampleLoop(context, count === undefined ? plan : { ...plan, count })) {
    const batch = new Batch(limits)
    if (result === undefined) series.end(fromMillis(now()), batch)
    else series.takeResult(result, batch)
    for (const entries of batch.requests()) await sender.send(entries, signal)
  }
}

async function fetchAll(
  context: Context,
  metrics: ReadonlyMap<Pmid, FollowedMetric>,
  signal: AbortSignal,
): Promise<FetchResult> {
  const ids = [...metrics.keys()]
  const results: FetchResult[] = []
  for (let i = 0; i < ids.length; i += FETCH_BATCH)
    results.push(await context.fetch(ids.slice(i, i + FETCH_BATCH), { signal }))
  return { ...results[0]!, sets: results.flatMap(({ sets }) => sets) }
}

/** Metadata of a collector: that of metrics is read once, instances when there are new ones. */
class LiveMetadata implements SourceMetadata {
  readonly metrics: Map<Pmid, FollowedMetric> = new Map()
  readonly indoms: Map<Indom, ReadonlyMap<number, string>> = new Map()
  readonly helps: Map<Pmid, string> = new Map()
  readonly #labels = new Map<string, readonly LabelSet[]>()

  static async read(context: Context, names: readonly string[], signal: AbortSignal): Promise<LiveMetadata> {
    const metadata = new LiveMetadata()
    const call = { signal }
    const found = await Promise.all(
      (names.length === 0 ? [''] : names).map((name) => context.traverse(name, call)),
    )
    const leaves = [...new Set(found.flat())]
    const ids = await context.lookupNames(leaves, call)
    for (const [i, id] of ids.entries()) {
      if (typeof id !== 'number') continue
      const known = metadata.metrics.get(id)
      const desc = known?.desc ?? (await orUndefined(context.desc(id, call)))
      if (desc === undefined || desc.type < 0 || desc.type > PM_TYPE_DOUBLE) continue
      metadata.metrics.set(id, { desc, names: [...(known?.names ?? []), leaves[i]!] })
    }
    if (metadata.metrics.size === 0)
      throw new PcpError('PM_ERR_NAME', `${names.join(' ')}: no metrics with numbers`)
    await metadata.#describe(context, signal)
    return metadata
  }

  labels(level: number, id: number): readonly LabelSet[] {
    return this.#labels.get(`${level} ${id}`) ?? []
  }

  /** Returns the domains of a result with instances whose names are not known. */
  *unknownIn({ sets }: FetchResult): Generator<Indom> {
    const seen = new Set<Indom>()
    for (const { pmid, status, inst } of sets) {
      const indom = this.metrics.get(pmid)?.desc.indom ?? PM_INDOM_NULL
      if (indom === PM_INDOM_NULL || seen.has(indom)) continue
      const known = this.indoms.get(indom)
      for (let i = 0; i < status; i++) {
        if (known?.has(inst[i]!) === true) continue
        seen.add(indom)
        yield indom
        break
      }
    }
  }

  /** Reads names and labels of the instances of a domain. */
  async readInstances(context: Context, indom: Indom, signal: AbortSignal): Promise<void> {
    const found = await orUndefined(context.instances(indom, { signal }))
    this.indoms.set(indom, new Map(found?.ids.map((id, i) => [id, found.names[i]!])))
    await this.#readLabels(context, LABEL_INSTANCES, indom, signal)
  }

  async #describe(context: Context, signal: AbortSignal): Promise<void> {
    const wanted = new Map<string, readonly [level: number, id: number]>()
    const want = (level: number, id: number): void => void wanted.set(`${level} ${id}`, [level, id])
    want(LABEL_CONTEXT, 0)
    for (const { desc } of this.metrics.values()) {
      want(LABEL_DOMAIN, domainOf(desc.pmid))
      want(LABEL_CLUSTER, clusterId(desc.pmid))
      want(LABEL_ITEM, desc.pmid)
      if (desc.indom !== PM_INDOM_NULL) want(LABEL_INDOM, desc.indom)
    }
    for (const [level, id] of wanted.values()) await this.#readLabels(context, level, id, signal)
    for (const pmid of this.metrics.keys()) {
      const text = await orUndefined(context.text(pmid, { level: 'oneline', signal }))
      if (text !== undefined) this.helps.set(pmid, text)
    }
  }

  async #readLabels(context: Context, level: number, id: number, signal: AbortSignal): Promise<void> {
    const sets = await orUndefined(context.labels(level, id, { signal }))
    this.#labels.set(`${level} ${id}`, sets?.filter(({ status }) => status >= 0) ?? [])
  }
}

/** Resolves to undefined if a question has no answer. */
async function orUndefined<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof PcpError && error.code.startsWith('PM_ERR_') && error.code !== 'PM_ERR_IPC')
      return undefined
    throw error
  }
}
