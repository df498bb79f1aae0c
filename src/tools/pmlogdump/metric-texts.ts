/** Caches names of metrics and instances as bytes: most records hold the same ones in the same order. */
import type { IndomSnapshot } from '../../archive/indom-history.ts'
import type { Metadata } from '../../archive/metadata.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { encodeText } from '../../base/text.ts'
import { type Indom, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { PM_TYPE_UNKNOWN } from '../../model/types.ts'
import { type Dump, namesOf } from './dump.ts'

/** Cached text of a metric. */
export class MetricText {
  readonly id: Pmid
  /** `    29.0.2 (name or other)`. */
  readonly head: Uint8Array
  readonly names: string
  /** PM_TYPE_UNKNOWN without a descriptor; values then determine their type. */
  readonly type: number
  readonly isSingular: boolean
  readonly #indom: IndomTexts | undefined
  /** Instances by their index in the previous record's value set. */
  #insts: Int32Array = new Int32Array(8)
  #texts: Uint8Array[] = []
  #snapshot: IndomSnapshot | undefined

  constructor(id: Pmid, names: string, type: number, indom: IndomTexts | undefined) {
    this.id = id
    this.names = names
    this.head = encodeText(`    ${pmidStr(id)} (${names})`)
    this.type = type
    this.isSingular = indom === undefined
    this.#indom = indom
  }

  /** Returns `inst [3 or "name"] ` for the instance at index `i` of the value set. */
  instance(i: number, inst: number): Uint8Array {
    const { snapshot } = this.#indom!
    if (snapshot !== this.#snapshot) {
      this.#snapshot = snapshot
      this.#texts.length = 0
    }
    if (i < this.#texts.length && this.#insts[i] === inst) return this.#texts[i]!
    const text = this.#indom!.textOf(inst)
    if (i > this.#texts.length) return text
    if (i >= this.#insts.length) {
      const grown = new Int32Array(this.#insts.length * 2)
      grown.set(this.#insts)
      this.#insts = grown
    }
    this.#insts[i] = inst
    this.#texts[i] = text
    return text
  }

  /** Returns the instance in the form for events: `3 or "name"`. */
  instanceName(inst: number): string {
    return this.#indom?.nameOf(inst) ?? String(inst)
  }
}

/** Instance names of a domain at the time of a record. */
class IndomTexts {
  readonly #snapshots: readonly IndomSnapshot[]
  readonly #form: (text: string) => string
  #at = -1
  #texts = new Map<number, Uint8Array>()

  constructor(snapshots: readonly IndomSnapshot[], form: (text: string) => string) {
    this.#snapshots = snapshots
    this.#form = form
  }

  get snapshot(): IndomSnapshot | undefined {
    return this.#snapshots[this.#at]
  }

  /** Moves to the snapshot valid at a time; fast for ascending times. */
  moveTo(sec: number, nsec: number): void {
    const before = this.#at
    while (this.#at + 1 < this.#snapshots.length && !isAfter(this.#snapshots[this.#at + 1]!, sec, nsec))
      this.#at++
    while (this.#at >= 0 && isAfter(this.#snapshots[this.#at]!, sec, nsec)) this.#at--
    if (this.#at !== before) this.#texts = new Map()
  }

  textOf(inst: number): Uint8Array {
    let text = this.#texts.get(inst)
    if (text === undefined) {
      text = encodeText(`inst [${this.nameOf(inst)}] `)
      this.#texts.set(inst, text)
    }
    return text
  }

  nameOf(inst: number): string {
    const { snapshot } = this
    const i = snapshot === undefined ? -1 : placeOf(snapshot.ids, inst)
    return i < 0 ? `${inst} or ???` : `${inst} or "${this.#form(snapshot!.name(i))}"`
  }
}

function isAfter(snapshot: IndomSnapshot, sec: number, nsec: number): boolean {
  return snapshot.sec > sec || (snapshot.sec === sec && snapshot.nsec > nsec)
}

/** Returns the index of an instance in ascending ids; -1 if missing. */
function placeOf(ids: Int32Array, inst: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const mid = (low + high) >> 1
    if (ids[mid]! < inst) low = mid + 1
    else high = mid
  }
  return ids[low] === inst ? low : -1
}

/** Cached texts of all metrics, looked up by their index in the previous record. */
export class MetricTexts {
  readonly #dump: Dump
  readonly #metadata: Metadata
  readonly #metrics = new Map<Pmid, MetricText>()
  readonly #indoms = new Map<Indom, IndomTexts>()
  readonly #last: MetricText[] = []

  constructor(dump: Dump) {
    this.#dump = dump
    this.#metadata = dump.archive.metadata
  }

  /** Sets the time for instance names to that of a record. */
  begin({ sec, nsec }: RecordView): void {
    this.#sec = sec
    this.#nsec = nsec
    for (const indom of this.#indoms.values()) indom.moveTo(sec, nsec)
  }

  #sec = 0
  #nsec = 0

  /** Returns the metric of value set `s`. */
  at(s: number, id: Pmid): MetricText {
    const last = this.#last[s]
    if (last !== undefined && last.id === id) return last
    const metric = this.of(id)
    this.#last[s] = metric
    return metric
  }

  /** Returns the metric of a PMID. */
  of(id: Pmid): MetricText {
    let metric = this.#metrics.get(id)
    if (metric === undefined) {
      const desc = this.#metadata.descs.get(id)
      const names = namesOf(this.#dump, id, '<nonames>')
      metric = new MetricText(id, names, desc?.type ?? PM_TYPE_UNKNOWN, this.#indomOf(desc?.indom))
      this.#metrics.set(id, metric)
    }
    return metric
  }

  #indomOf(indom: Indom | undefined): IndomTexts | undefined {
    if (indom === undefined || indom === PM_INDOM_NULL) return undefined
    let texts = this.#indoms.get(indom)
    if (texts === undefined) {
      texts = new IndomTexts(this.#metadata.snapshots(indom), this.#dump.form)
      texts.moveTo(this.#sec, this.#nsec)
      this.#indoms.set(indom, texts)
    }
    return texts
  }
}
