/** Rewrites the metadata of an archive, record by record, in the order of its file. docs/formats/archive.md §4 */
import {
  afterStamp,
  checkDesc,
  checkIndom,
  decodeHelp,
  decodeLabelSets,
  labelTarget,
  META_DESC,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
  TEXT_INDOM,
  TEXT_ONELINE,
} from '../../archive/meta-records.ts'
import { type ArchiveVersion, readStamp, stampSize, writeStamp } from '../../archive/stamp.ts'
import { encodeDesc, encodeHelp, encodeLabels } from '../../archive/write/metadata.ts'
import { decodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { addTimes } from '../../time/arithmetic.ts'
import { IndomRewriter, type MetadataRecord, type WriteRecord } from './indoms.ts'
import { LabelRewriter } from './labels.ts'
import type { MetricPlan, Plan } from './plan.ts'
import { changesText, type TextRule } from './rules.ts'

/** Rewrites records; shared by all members of an archive. */
export class MetadataRewriter {
  readonly #plan: Plan
  readonly #version: ArchiveVersion
  readonly #delta: Timestamp | undefined
  readonly #write: WriteRecord
  readonly #indoms: IndomRewriter
  readonly #labels: LabelRewriter
  /** Rules for each text. */
  readonly #texts = new Map<string, TextRule[]>()

  #isLabelled = false

  constructor(plan: Plan, write: WriteRecord) {
    const { known, rules } = plan
    this.#plan = plan
    this.#version = known.version
    this.#delta = rules.global.delta
    this.#write = write
    this.#indoms = new IndomRewriter(plan, write)
    this.#labels = new LabelRewriter(plan)
    for (const rule of rules.texts.filter(changesText)) {
      const key = textKey(rule.kind, rule.id, rule.level)
      this.#texts.set(key, [...(this.#texts.get(key) ?? []), rule])
    }
  }

  /** Writes labels for objects without any, once, with the time of the archive's start. */
  addLabels(): void {
    if (this.#isLabelled) return
    this.#isLabelled = true
    const at = this.#plan.known.archive.start
    for (const { level, id, sets } of this.#labels.missing())
      this.#write(encodeLabels(this.#version, this.#moved(at), level, id, sets))
  }

  /** Writes the replacement of a record: none, one or several records. Throws PM_ERR_LOGREC for a damaged one. */
  rewrite(place: MetadataRecord): void {
    // Comes before all records with a time, so that times in metadata do not decrease.
    if (place.type !== META_DESC && place.type !== META_TEXT) this.addLabels()
    switch (place.type) {
      case META_DESC:
        this.#desc(place)
        return
      case META_INDOM:
      case META_INDOM_V2:
      case META_INDOM_DELTA:
        this.#indom(place)
        return
      case META_LABEL:
      case META_LABEL_V2:
        this.#label(place)
        return
      case META_TEXT:
        this.#text(place)
    }
  }

  #moved(at: Timestamp): Timestamp {
    return this.#delta === undefined ? at : addTimes(at, this.#delta)
  }

  #desc(place: MetadataRecord): void {
    const { bytes, view, at, length, path } = place
    const plan = this.#plan.metrics.get(view.getUint32(at + 8))
    if (plan === undefined) {
      this.#write(bytes.subarray(at, at + length))
      return
    }
    if (plan.rule.isDeleted) return
    const names: string[] = []
    checkDesc(view, at, length, path, (start, end) => names.push(decodeText(bytes, start, end)))
    this.#write(newDesc(plan, names))
  }

  #indom(place: MetadataRecord): void {
    const { view, at, length, type, path } = place
    const layout = checkIndom(view, at, length, type, path)
    const time = readStamp(view, at + 8, type === META_INDOM_V2 ? 2 : 3)
    if (this.#indoms.isUntouched(layout.indom)) this.#write(this.#restamped(place))
    else this.#indoms.rewrite(place, layout, time, this.#moved(time))
  }

  #label(place: MetadataRecord): void {
    const { view, at, length, type } = place
    const head = afterStamp(at, type)
    const { level, id } = labelTarget(view, head)
    if (!this.#labels.changes(level, id)) {
      this.#write(this.#restamped(place))
      return
    }
    const time = this.#moved(readStamp(view, at + 8, type === META_LABEL_V2 ? 2 : 3))
    for (const part of this.#labels.rewrite(level, id, decodeLabelSets(view, at, length, type)))
      this.#write(encodeLabels(this.#version, time, view.getInt32(head), part.id, part.sets))
  }

  /** Returns a record with a time in the output's version and with the output's time. */
  #restamped({ bytes, view, at, length, type }: MetadataRecord): Uint8Array {
    const isOld = type === META_INDOM_V2 || type === META_LABEL_V2
    const version = this.#version
    if (this.#delta === undefined && isOld === (version === 2)) return bytes.subarray(at, at + length)
    const oldHead = afterStamp(at, type)
    const head = 8 + stampSize(version)
    const record = new Uint8Array(length + head - (oldHead - at))
    const out = new DataView(record.buffer)
    out.setInt32(0, record.length)
    out.setInt32(4, isOld && version === 3 ? NEW_TYPES[type]! : type)
    writeStamp(out, 8, this.#moved(readStamp(view, at + 8, isOld ? 2 : 3)), version)
    record.set(bytes.subarray(oldHead, at + length - 4), head)
    out.setInt32(record.length - 4, record.length)
    return record
  }

  #text({ bytes, view, at, length }: MetadataRecord): void {
    const what = view.getInt32(at + 8)
    const id = view.getUint32(at + 12)
    const kind = (what & TEXT_INDOM) !== 0 ? 'indom' : 'metric'
    const level = (what & TEXT_ONELINE) !== 0 ? 'oneline' : 'help'
    const rules = this.#texts.get(textKey(kind, id, level)) ?? []
    const text = rules.length === 0 ? '' : decodeHelp(view, at, length)
    const rule = rules.find(({ content }) => content === undefined || text.includes(content))
    const targets = rule?.isDeleted ? [] : this.#textTargets(kind, id, rule)
    for (const target of targets) {
      if (rule?.text !== undefined) this.#write(encodeHelp({ kind, id: target, level }, rule.text))
      else if (target === id) this.#write(bytes.subarray(at, at + length))
      else {
        const record = new Uint8Array(bytes.subarray(at, at + length))
        new DataView(record.buffer).setUint32(12, target)
        this.#write(record)
      }
    }
  }

  /** Returns the ids of a text in the output: none if deleted, two for a duplicated domain. */
  #textTargets(kind: 'metric' | 'indom', id: number, rule: TextRule | undefined): number[] {
    if (rule?.to !== undefined) return [rule.to]
    if (kind === 'indom') return this.#indoms.targets(id)
    const plan = this.#plan.metrics.get(id)
    return plan?.rule.isDeleted ? [] : [plan?.rule.pmid ?? id]
  }
}

const NEW_TYPES: Readonly<Record<number, number>> = {
  [META_INDOM_V2]: META_INDOM,
  [META_LABEL_V2]: META_LABEL,
}

function newDesc({ rule, indom }: MetricPlan, names: readonly string[]): Uint8Array {
  const { desc, name, newName } = rule
  const changed = {
    pmid: rule.pmid ?? desc.pmid,
    type: rule.type ?? desc.type,
    indom,
    sem: rule.sem ?? desc.sem,
    units: rule.units ?? desc.units,
  }
  return encodeDesc(
    changed,
    newName === undefined ? names : names.map((one) => (cName(one) === name ? newName : one)),
  )
}

/** Cuts a name at a NUL, which old archives have. */
function cName(name: string): string {
  const end = name.indexOf('\0')
  return end === -1 ? name : name.slice(0, end)
}

function textKey(kind: string, id: number, level: string): string {
  return `${kind} ${id} ${level}`
}
