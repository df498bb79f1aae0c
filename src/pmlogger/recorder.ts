/**
 * From results to records: what an archive must know of a metric is asked for and written before its first values.
 * docs/pmlogger.md
 */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import { EVENT_FLAGS_PMID, EVENT_MISSED_PMID, unpackEvents } from '../model/events.ts'
import {
  clusterOf,
  DOMAIN_RESERVED,
  domainOf,
  type Indom,
  isDynamicRoot,
  itemOf,
  PM_INDOM_NULL,
  type Pmid,
  pmid,
  pmidStr,
} from '../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
import type { TextQuery } from '../model/source.ts'
import { PM_TYPE_EVENT } from '../model/types.ts'
import type { ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { Fetch } from './tasks.ts'

/** Identifier of context labels in an archive. */
const NO_ID = 0xffff_ffff
/** Set in the cluster of a derived metric: its values are stored, nobody computes them again. */
const STORED_CLUSTER = 0x800
/** Metrics whose metadata is asked for at once. */
const BATCH = 200

/** What there is to say about one metric, in the order it is written. */
interface Description {
  readonly desc: MetricDesc
  readonly names: readonly string[]
  readonly labels: readonly {
    readonly level: number
    readonly id: number
    readonly sets: readonly LabelSet[]
  }[]
  readonly texts: readonly { readonly query: TextQuery; readonly text: string }[]
}

/** Writes the results of one collector into one archive. Calls must not overlap. */
export class Recorder {
  readonly #writer: ArchiveWriter
  /** PMIDs whose descriptor is in the archive. */
  readonly #known = new Set<Pmid>()
  /** Label levels and texts that were asked for, and are in the archive if there are any. */
  readonly #asked = new Set<string>()

  constructor(writer: ArchiveWriter) {
    this.#writer = writer
  }

  /**
   * Writes a result of a task with all it needs; `sets` are those of the metrics of one of its fetches in the same order. Errors
   * of the connection and of the files are thrown; what was not written is then written with the next result.
   */
  async record(
    context: Context,
    at: Timestamp,
    { key, fetch }: { readonly key: string; readonly fetch: Fetch },
    sets: readonly ValueSet[],
  ): Promise<void> {
    const { metrics } = fetch
    const fresh = metrics.filter(({ desc }) => !this.#known.has(desc.pmid))
    for (let i = 0; i < fresh.length; i += BATCH) await this.#describe(context, at, fresh.slice(i, i + BATCH))
    await this.#recordIndoms(context, at, key, fetch, sets)
    for (const [i, set] of sets.entries())
      if (set.status > 0 && metrics[i]!.desc.type === PM_TYPE_EVENT)
        await this.#recordParameters(context, set)
    const stored = sets.some((set) => isDerived(set.pmid))
      ? sets.map((set) => ({ ...set, pmid: storedId(set.pmid) }))
      : sets
    this.#writer.result(at, stored)
  }

  /** The collector's own labels may have changed. */
  async recordContextLabels(context: Context, at: Timestamp): Promise<void> {
    this.#writer.labels(at, LABEL_CONTEXT, NO_ID, await orNothing(context.contextLabels()))
  }

  /** Writes a descriptor nobody has to be asked about. */
  writeDesc(desc: MetricDesc, name: string): void {
    this.#writer.desc(desc, [name])
    this.#known.add(desc.pmid)
  }

  async #describe(context: Context, at: Timestamp, metrics: readonly LoggedMetric[]): Promise<void> {
    const asked = new Set<string>()
    const descriptions = await Promise.all(metrics.map((metric) => this.#ask(context, metric, asked)))
    for (const { desc, names, labels, texts } of descriptions) {
      this.#writer.desc({ ...desc, pmid: storedId(desc.pmid) }, names)
      for (const { level, id, sets } of labels) if (sets.length > 0) this.#writer.labels(at, level, id, sets)
      for (const { query, text } of texts) this.#writer.text(query, text)
      this.#known.add(desc.pmid)
    }
    for (const key of asked) this.#asked.add(key)
  }

  /** Everything about one metric that is not in the archive, nor in `asked`, yet. */
  async #ask(context: Context, { name, desc }: LoggedMetric, asked: Set<string>): Promise<Description> {
    const isNew = (kind: number | string, id: number): boolean => {
      const key = `${kind} ${id}`
      if (this.#asked.has(key) || asked.has(key)) return false
      asked.add(key)
      return true
    }
    const { pmid: id, indom } = desc
    const hasIndom = indom !== PM_INDOM_NULL
    const levels: readonly (readonly [level: number, id: number])[] = [
      [LABEL_CONTEXT, NO_ID],
      [LABEL_DOMAIN, domainOf(id)],
      ...(hasIndom ? [[LABEL_INDOM, indom] as const] : []),
      [LABEL_CLUSTER, pmid(domainOf(id), clusterOf(id), 0)],
      [LABEL_ITEM, id],
      ...(hasIndom ? [[LABEL_INSTANCES, indom] as const] : []),
    ]
    const texts = (['oneline', 'help'] as const).flatMap((level): TextQuery[] => [
      { kind: 'metric', id, level },
      ...(hasIndom && isNew(level, indom) ? [{ kind: 'indom', id: indom, level } as const] : []),
    ])
    const [names, labels, found] = await Promise.all([
      namesOf(context, id, name),
      Promise.all(
        levels
          .filter(([level, of]) => isNew(level, of))
          .map(async ([level, of]) => ({
            level,
            id: level === LABEL_ITEM ? storedId(of) : of,
            sets: await orNothing(context.labels(level, of)),
          })),
      ),
      Promise.all(texts.map((query) => textOf(context, query))),
    ])
    return { desc, names, labels, texts: found.filter((text) => text !== undefined) }
  }

  /** Writes the domains of a result's values when they are not as the archive has them. */
  async #recordIndoms(
    context: Context,
    at: Timestamp,
    key: string,
    { metrics, only }: Fetch,
    sets: readonly ValueSet[],
  ): Promise<void> {
    const stale = new Set<Indom>()
    for (const [i, set] of sets.entries()) {
      const metric = metrics[i]!
      const isFirst = !metric.hasResult
      const hasChanged = set.status >= 0 && metric.seen(key, set.inst, only.get(set.pmid))
      if (set.status <= 0) continue
      const { indom } = metric.desc
      if (indom === PM_INDOM_NULL || stale.has(indom)) continue
      // Another metric of the domain may have had it written a moment ago.
      const isStale = isFirst
        ? set.inst.some((inst) => !this.#writer.knowsInstance(indom, inst))
        : hasChanged || !this.#writer.knowsInstance(indom)
      if (isStale) stale.add(indom)
    }
    for (const indom of stale) {
      const { ids, names } = await this.#instancesOf(context, indom)
      if (ids.length === 0 || !this.#writer.instances(at, indom, ids, names)) continue
      const labels = await orNothing(context.instancesLabels(indom))
      if (labels.length > 0) this.#writer.labels(at, LABEL_INSTANCES, indom, labels)
    }
  }

  /** Instances that an archive can hold: it has no place for negative ones. */
  async #instancesOf(context: Context, indom: Indom): Promise<{ ids: number[]; names: string[] }> {
    const ids: number[] = []
    const names: string[] = []
    try {
      const all = await context.instances(indom)
      all.ids.forEach((id, i) => {
        if (id < 0) return
        ids.push(id)
        names.push(all.names[i]!)
      })
    } catch (error) {
      rethrowUnlessItem(error)
    }
    return { ids, names }
  }

  /** Writes the descriptors of the parameters of event records. */
  async #recordParameters(context: Context, set: ValueSet): Promise<void> {
    for (let i = 0; i < set.status; i++) {
      for (const { params } of unpackEvents(set, i, PM_TYPE_EVENT)) {
        for (const { pmid: id } of params) {
          if (this.#known.has(id) || id === EVENT_FLAGS_PMID || id === EVENT_MISSED_PMID) continue
          const [desc] = await context.descs([id])
          if (desc === undefined || isError(desc)) continue
          this.#writer.desc(desc, await namesOf(context, id, `event_param.${pmidStr(id)}`))
          this.#known.add(id)
        }
      }
    }
  }
}

/** Is this a metric that is computed from others? */
function isDerived(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && !isDynamicRoot(id) && (clusterOf(id) & STORED_CLUSTER) === 0
}

/** The PMID under which values are stored: that of an ordinary metric for a derived one. */
function storedId(id: Pmid): Pmid {
  return isDerived(id) ? pmid(DOMAIN_RESERVED, clusterOf(id) | STORED_CLUSTER, itemOf(id)) : id
}

async function namesOf(context: Context, id: Pmid, name: string): Promise<readonly string[]> {
  try {
    const names = await context.namesOf(id)
    return names.length === 0 ? [name] : names
  } catch (error) {
    rethrowUnlessItem(error)
    return [name]
  }
}

async function textOf(context: Context, query: TextQuery): Promise<Description['texts'][number] | undefined> {
  const options = { level: query.level, direct: true }
  try {
    const { kind, id } = query
    const text = await (kind === 'metric' ? context.text(id, options) : context.indomText(id, options))
    return { query: kind === 'metric' ? { ...query, id: storedId(id) } : query, text }
  } catch (error) {
    rethrowUnlessItem(error)
    return undefined
  }
}

async function orNothing(sets: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  try {
    return (await sets).filter(({ status, json }) => status >= 0 && json !== '')
  } catch (error) {
    rethrowUnlessItem(error)
    return []
  }
}

/** PM_ERR_* codes that are about the conversation; the others are about what was asked for. */
const CONVERSATION: ReadonlySet<string> = new Set(['PM_ERR_IPC', 'PM_ERR_EOF', 'PM_ERR_TIMEOUT'])

/** An item that nobody knows more about is recorded without it; a lost connection ends the recording of this result. */
function rethrowUnlessItem(error: unknown): void {
  if (!(error instanceof PcpError) || !error.code.startsWith('PM_ERR_') || CONVERSATION.has(error.code))
    throw error
}
