/**
 * Writes results as records, preceded by the metadata they need. Metadata that an agent could not supply yet, or that could not be
 * written, is fetched and written with the next result. docs/reference/pmlogger.md
 */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError } from '../model/errors.ts'
import { EVENT_FLAGS_PMID, EVENT_MISSED_PMID, unpackEvents } from '../model/events.ts'
import { clusterOf, domainOf, type Indom, PM_INDOM_NULL, type Pmid, pmid, pmidStr } from '../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../model/labels.ts'
import type { TextQuery } from '../model/source.ts'
import { PM_TYPE_EVENT } from '../model/types.ts'
import type { ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import type { LoggedMetric } from './logged-metric.ts'
import {
  fetchLabels,
  fetchText,
  isDerived,
  labelKey,
  type MetadataWrite,
  NOT_READY,
  namesOf,
  orNotReady,
  storedId,
  textKey,
  usableLabels,
} from './metadata-requests.ts'
import type { Fetch } from './tasks.ts'

/** Identifier for context labels in an archive. */
const NO_ID = 0xffff_ffff
/** Metrics whose metadata is fetched together. */
const BATCH = 200
/** Requests for a metric's metadata before an agent that is never ready counts as having none. */
const MAX_TRIES = 20

/** Metadata of one metric, in the order it is written. */
interface Description {
  readonly metric: LoggedMetric
  readonly names: readonly string[]
  readonly answers: readonly MetadataWrite[]
}

/** Instances of a result, remembered once it is written. */
interface Seen {
  readonly metric: LoggedMetric
  readonly inst: Int32Array
  readonly wanted: ReadonlySet<number> | undefined
}

/** Writes the results of one collector into one archive. Calls must not overlap. */
export class Recorder {
  readonly #writer: ArchiveWriter
  /** PMIDs with their descriptor in the archive. */
  readonly #described = new Set<Pmid>()
  /** PMIDs with all metadata in the archive. */
  readonly #known = new Set<Pmid>()
  /** Keys of labels and texts that are in the archive or known not to exist. */
  readonly #answered = new Set<string>()
  /** Number of requests for metrics with incomplete metadata. */
  readonly #tries = new Map<Pmid, number>()
  /** Domains with instances that have values but no name in the archive. */
  readonly #unnamed = new Set<Indom>()
  /** Domains whose latest instances are in the archive without their labels. */
  readonly #unlabelled = new Set<Indom>()

  constructor(writer: ArchiveWriter) {
    this.#writer = writer
  }

  /**
   * Writes a task's result with its metadata; `sets` belong to the metrics of one of the task's fetches, in the same order. Throws
   * connection and file errors; the missing parts are written with the next result.
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
    const seen = await this.#recordIndoms(context, at, key, fetch, sets)
    for (const [i, set] of sets.entries())
      if (set.status > 0 && metrics[i]!.desc.type === PM_TYPE_EVENT)
        await this.#recordParameters(context, set)
    const stored = sets.some((set) => isDerived(set.pmid))
      ? sets.map((set) => ({ ...set, pmid: storedId(set.pmid) }))
      : sets
    this.#writer.result(at, stored)
    for (const { metric, inst, wanted } of seen) metric.seen(key, inst, wanted)
  }

  /** Records the context labels, which may have changed; returns false if the collector cannot supply them yet. */
  async recordContextLabels(context: Context, at: Timestamp): Promise<boolean> {
    const sets = await usableLabels(context.contextLabels())
    if (sets === NOT_READY) return false
    this.#writer.labels(at, LABEL_CONTEXT, NO_ID, sets)
    return true
  }

  /** Writes a descriptor without contacting the collector. */
  writeDesc(desc: MetricDesc, name: string): void {
    this.#writer.desc(desc, [name])
    this.#described.add(desc.pmid)
    this.#known.add(desc.pmid)
  }

  /** Marks each item as written individually, so that after a failure the next call writes the rest. */
  async #describe(context: Context, at: Timestamp, metrics: readonly LoggedMetric[]): Promise<void> {
    const asked = new Set<string>()
    const descriptions = await Promise.all(metrics.map((metric) => this.#ask(context, at, metric, asked)))
    for (const { metric, names, answers } of descriptions) {
      const { desc } = metric
      if (!this.#described.has(desc.pmid)) {
        this.#writer.desc({ ...desc, pmid: storedId(desc.pmid) }, names)
        this.#described.add(desc.pmid)
      }
      const tries = (this.#tries.get(desc.pmid) ?? 0) + 1
      let isComplete = true
      for (const { key, write, isNotReady } of answers) {
        write?.(this.#writer)
        if (isNotReady && tries < MAX_TRIES) isComplete = false
        else this.#answered.add(key)
      }
      if (isComplete) {
        this.#known.add(desc.pmid)
        this.#tries.delete(desc.pmid)
      } else this.#tries.set(desc.pmid, tries)
    }
  }

  /** Fetches a metric's metadata that is neither in the archive nor in `asked`. */
  async #ask(
    context: Context,
    at: Timestamp,
    metric: LoggedMetric,
    asked: Set<string>,
  ): Promise<Description> {
    const { pmid: id, indom } = metric.desc
    const isNew = (key: string): boolean => {
      if (this.#answered.has(key) || asked.has(key)) return false
      asked.add(key)
      return true
    }
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
      ...(hasIndom ? [{ kind: 'indom', id: indom, level } as const] : []),
    ])
    const [names, answers] = await Promise.all([
      this.#described.has(id) ? [] : namesOf(context, id, metric.name),
      Promise.all([
        ...levels
          .filter(([level, of]) => isNew(labelKey(level, of)))
          .map(([level, of]) => fetchLabels(context, at, level, of)),
        ...texts.filter((query) => isNew(textKey(query))).map((query) => fetchText(context, query)),
      ]),
    ])
    return { metric, names, answers }
  }

  /**
   * Writes the instance domains of a result if they differ from the archive. Returns the instances to remember once the result is
   * written.
   */
  async #recordIndoms(
    context: Context,
    at: Timestamp,
    key: string,
    { metrics, only }: Fetch,
    sets: readonly ValueSet[],
  ): Promise<readonly Seen[]> {
    const stale = new Set<Indom>()
    const seen: Seen[] = []
    for (const [i, set] of sets.entries()) {
      if (set.status < 0) continue
      const metric = metrics[i]!
      const wanted = only.get(set.pmid)
      const how = metric.compare(key, set.inst, wanted)
      if (how !== 'same') seen.push({ metric, inst: set.inst, wanted })
      if (set.status === 0) continue
      const { indom } = metric.desc
      if (indom === PM_INDOM_NULL || stale.has(indom)) continue
      // The domain may just have been written for another metric.
      const isStale = metric.hasResult
        ? how === 'changed' || this.#unnamed.has(indom) || !this.#writer.knowsInstance(indom)
        : !this.#knowsAll(indom, set)
      if (isStale) stale.add(indom)
    }
    for (const indom of stale) await this.#recordIndom(context, at, indom)
    for (const indom of stale) {
      const isNamed = sets.every(
        (set, i) => metrics[i]!.desc.indom !== indom || set.status <= 0 || this.#knowsAll(indom, set),
      )
      if (isNamed) this.#unnamed.delete(indom)
      else this.#unnamed.add(indom)
    }
    for (const indom of this.#unlabelled) await this.#labelInstances(context, at, indom)
    return seen
  }

  /** Returns whether the archive has a name for each instance. It cannot hold negative ids. */
  #knowsAll(indom: Indom, { inst }: ValueSet): boolean {
    return inst.every((id) => id < 0 || this.#writer.knowsInstance(indom, id))
  }

  async #recordIndom(context: Context, at: Timestamp, indom: Indom): Promise<void> {
    const all = await orNotReady(context.instances(indom), { indom, ids: [], names: [] })
    if (all === NOT_READY) return
    const ids = all.ids.filter((id) => id >= 0)
    const names = all.names.filter((_, i) => all.ids[i]! >= 0)
    if (ids.length > 0 && this.#writer.instances(at, indom, ids, names)) this.#unlabelled.add(indom)
  }

  async #labelInstances(context: Context, at: Timestamp, indom: Indom): Promise<void> {
    const sets = await usableLabels(context.instancesLabels(indom))
    if (sets === NOT_READY) return
    if (sets.length > 0) this.#writer.labels(at, LABEL_INSTANCES, indom, sets)
    this.#unlabelled.delete(indom)
  }

  /** Writes the descriptors of event parameters. */
  async #recordParameters(context: Context, set: ValueSet): Promise<void> {
    for (let i = 0; i < set.status; i++) {
      for (const { params } of unpackEvents(set, i, PM_TYPE_EVENT)) {
        for (const { pmid: id } of params) {
          if (this.#described.has(id) || id === EVENT_FLAGS_PMID || id === EVENT_MISSED_PMID) continue
          const [desc] = await context.descs([id])
          if (desc === undefined || isError(desc)) continue
          this.#writer.desc(desc, await namesOf(context, id, `event_param.${pmidStr(id)}`))
          this.#described.add(id)
        }
      }
    }
  }
}
