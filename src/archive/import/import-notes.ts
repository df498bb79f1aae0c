/** Texts and labels of an import, collected until their objects are written. pmiPutText(3), pmiPutLabel(3) */
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { makeLabelSet } from '../../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../../model/labels.ts'
import type { TextQuery } from '../../model/source.ts'
import type { ArchiveWriter } from '../write/writer.ts'

/** Object of labels: the whole archive, or a part of it. */
export type LabelTarget =
  | 'context'
  | { readonly domain: number }
  | { readonly cluster: Pmid }
  | { readonly metric: string }
  | { readonly indom: Indom | string; readonly instance?: string | number }

/** The same with numeric ids only. */
type Target =
  | 'context'
  | { readonly domain: number }
  | { readonly cluster: Pmid }
  | { readonly pmid: Pmid }
  | { readonly indom: Indom; readonly inst?: number }

interface Labels {
  readonly level: number
  readonly id: number
  /** By instance; PM_IN_NULL unless the labels belong to instances. */
  readonly sets: Map<number, LabelSet>
  readonly values: Map<number, Record<string, unknown>>
}

/** Id of an object that exists once. */
const NO_ID = 0xffffffff

/** Writes descriptors, then the texts and labels of described metrics and domains. */
export class ImportNotes {
  readonly #described = new Set<Pmid>()
  readonly #describedIndoms = new Set<Indom>()
  #texts: { readonly query: TextQuery; readonly text: string }[] = []
  readonly #labels = new Map<string, Labels>()
  #changed = new Set<Labels>()

  /** Writes a descriptor unless it has been written. */
  describe(writer: ArchiveWriter, desc: MetricDesc, name: string): void {
    const { pmid, indom } = desc
    if (this.#described.has(pmid)) return
    writer.desc(desc, [name])
    this.#described.add(pmid)
    if (indom !== PM_INDOM_NULL) this.#describedIndoms.add(indom)
  }

  addText(query: TextQuery, text: string): void {
    this.#texts.push({ query, text })
  }

  /** Adds to the labels of an object, replacing those with the same names. EINVAL for invalid label names. */
  addLabels(labels: { readonly [name: string]: unknown }, target: Target): void {
    const { level, id, inst } = addressOf(target)
    const key = `${level} ${id}`
    const entry = this.#labels.get(key) ?? { level, id, sets: new Map(), values: new Map() }
    const values = { ...entry.values.get(inst), ...labels }
    entry.sets.set(inst, makeLabelSet(values, level, { inst }))
    entry.values.set(inst, values)
    this.#labels.set(key, entry)
    this.#changed.add(entry)
  }

  /** Writes new texts and labels of described metrics. After a failure the next call writes the rest. */
  write(writer: ArchiveWriter, at: Timestamp): void {
    const waiting = new Set(this.#texts)
    try {
      for (const one of waiting) {
        const { kind, id } = one.query
        if (!(kind === 'metric' ? this.#described : this.#describedIndoms).has(id)) continue
        writer.text(one.query, one.text)
        waiting.delete(one)
      }
    } finally {
      this.#texts = [...waiting]
    }
    const later = new Set<Labels>()
    for (const labels of this.#changed) {
      const { level, id, sets } = labels
      if (this.#isKnown(level, id)) {
        writer.labels(
          at,
          level,
          id,
          [...sets.values()].sort((a, b) => a.inst - b.inst),
        )
      } else later.add(labels)
    }
    this.#changed = later
  }

  #isKnown(level: number, id: number): boolean {
    switch (level) {
      case LABEL_ITEM:
        return this.#described.has(id)
      case LABEL_INDOM:
      case LABEL_INSTANCES:
        return this.#describedIndoms.has(id)
      case LABEL_DOMAIN:
        return [...this.#described].some((pmid) => domainOf(pmid) === id)
      case LABEL_CLUSTER:
        return [...this.#described].some((pmid) => clusterId(pmid) === id)
      default:
        return true
    }
  }
}

function addressOf(target: Target): { level: number; id: number; inst: number } {
  if (target === 'context') return { level: LABEL_CONTEXT, id: NO_ID, inst: -1 }
  if ('domain' in target) return { level: LABEL_DOMAIN, id: target.domain, inst: -1 }
  if ('cluster' in target) return { level: LABEL_CLUSTER, id: clusterId(target.cluster), inst: -1 }
  if ('pmid' in target) return { level: LABEL_ITEM, id: target.pmid, inst: -1 }
  const { indom, inst } = target
  if (inst === undefined) return { level: LABEL_INDOM, id: indom, inst: -1 }
  return { level: LABEL_INSTANCES, id: indom, inst }
}
