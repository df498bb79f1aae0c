/**
 * Turns results into records, after the metadata that they need. Metadata that an agent could not give yet, or that could not be
 * written, is fetched and written with the next result. docs/pmlogger.md
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
import {
  type Answer,
  answerOf,
  askLabels,
  askText,
  isDerived,
  LATER,
  labelKey,
  namesOf,
  storedId,
  textKey,
  usableLabels,
} from './answers.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { Fetch } from './tasks.ts'

/** Identifier of context labels in an archive. */
const NO_ID = 0xffff_ffff
/** Metrics whose metadata is asked for together. */
const BATCH = 200
/** How often an agent is asked about a metric until its silence is taken for an answer. */
const MAX_TRIES = 20

/** What there is to say about one metric, in the order it is written. */
interface Description {
  readonly metric: LoggedMetric
  readonly names: readonly string[]
  readonly answers: readonly Answer[]
}

/** Instances that a result has brought, to be remembered when it is written. */
interface Seen {
  readonly metric: LoggedMetric
  readonly inst: Int32Array
  readonly wanted: ReadonlySet<number> | undefined
}

/** Writes the results of one collector into one archive. Calls must not overlap. */
export class Recorder {
  readonly #writer: ArchiveWriter
  /** PMIDs whose descriptor is in the archive. */
  readonly #described = new Set<Pmid>()
  /** PMIDs of which everything is in the archive. */
  readonly #known = new Set<Pmid>()
  /** Keys of labels and texts that are in the archive if there are any. */
  readonly #answered = new Set<string>()
  /** How often agents were asked about metrics that are not known entirely. */
  readonly #tries = new Map<Pmid, number>()
  /** Domains with instances that have values in the archive, but no name. */
  readonly #unnamed = new Set<Indom>()
  /** Domains whose last instances are in the archive, but not their labels. */
  readonly #unlabelled = new Set<Indom>()

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

  /** Records the collector's own labels, which may have changed; false when it cannot say yet. */
  async recordContextLabels(context: Context, at: Timestamp): Promise<boolean> {
    const sets = await usableLabels(context.contextLabels())
    if (sets === LATER) return false
    this.#writer.labels(at, LABEL_CONTEXT, NO_ID, sets)
    return true
  }

  /** Writes a descriptor that the collector need not be asked about. */
  writeDesc(desc: MetricDesc, name: string): void {
    this.#writer.desc(desc, [name])
    this.#described.add(desc.pmid)
    this.#known.add(desc.pmid)
  }

  /** Counts each thing as written when it is: after a failure the next call writes the rest. */
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
      for (const { key, write, isLater } of answers) {
        write?.(this.#writer)
        if (isLater && tries < MAX_TRIES) isComplete = false
        else this.#answered.add(key)
      }
      if (isComplete) {
        this.#known.add(desc.pmid)
        this.#tries.delete(desc.pmid)
      } else this.#tries.set(desc.pmid, tries)
    }
  }

  /** Everything about one metric that is not in the archive, nor in `asked`, yet. */
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
          .map(([level, of]) => askLabels(context, at, level, of)),
        ...texts.filter((query) => isNew(textKey(query))).map((query) => askText(context, query)),
      ]),
    ])
    return { metric, names, answers }
  }

  /**
   * Writes the domains of a result's values when they are not as the archive has them. Returns the instances to remember once the
   * result is written.
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
      // Another metric of the domain may have had it written a moment ago.
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

  /** Has the archive a name for each instance that it can name? It has no place for negative ones. */
  #knowsAll(indom: Indom, { inst }: ValueSet): boolean {
    return inst.every((id) => id < 0 || this.#writer.knowsInstance(indom, id))
  }

  async #recordIndom(context: Context, at: Timestamp, indom: Indom): Promise<void> {
    const all = await answerOf(context.instances(indom), { indom, ids: [], names: [] })
    if (all === LATER) return
    const ids = all.ids.filter((id) => id >= 0)
    const names = all.names.filter((_, i) => all.ids[i]! >= 0)
    if (ids.length > 0 && this.#writer.instances(at, indom, ids, names)) this.#unlabelled.add(indom)
  }

  async #labelInstances(context: Context, at: Timestamp, indom: Indom): Promise<void> {
    const sets = await usableLabels(context.instancesLabels(indom))
    if (sets === LATER) return
    if (sets.length > 0) this.#writer.labels(at, LABEL_INSTANCES, indom, sets)
    this.#unlabelled.delete(indom)
  }

  /** Writes the descriptors of the parameters of event records. */
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
