/** -e: labels of metrics and what they are about, by time. */
import { labelSize } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import {
  afterStamp,
  checkLabels,
  forEachMetaRecord,
  META_LABEL,
  META_LABEL_V2,
} from '../../archive/meta-records.ts'
import { readStamp } from '../../archive/stamp.ts'
import { decodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { indomStr, pmidStr } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_COMPOUND,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  LABEL_OPTIONAL,
} from '../../model/labels.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { type MetaFile, readMeta } from '../lib/archive-input.ts'
import type { Dump } from './dump.ts'

/** Levels in the order they are shown, and what a flag of that level is called. */
const LEVELS: readonly (readonly [number, string])[] = [
  [LABEL_CONTEXT, 'context'],
  [LABEL_DOMAIN, 'domain'],
  [LABEL_CLUSTER, 'cluster'],
  [LABEL_ITEM, 'pmid'],
  [LABEL_INDOM, 'indom'],
  [LABEL_INSTANCES, 'instances'],
]

/** A record with label sets. */
interface LabelRecord {
  readonly time: Timestamp
  /** 6 or 9 digits of the second. */
  readonly digits: number
  /** Place of the level in LEVELS. */
  readonly rank: number
  readonly level: number
  readonly id: number
  readonly meta: MetaFile
  /** Offset of the number of sets. */
  readonly sets: number
}

/** Shows all label sets. */
export function dumpLabelSets(dump: Dump): void {
  const { archive, out, stamps } = dump
  const records: LabelRecord[] = []
  for (const member of archive.members) collect(dump, member, records)
  records.sort((a, b) => compareTimes(a.time, b.time) || a.rank - b.rank || a.id - b.id)
  out.text('\nMetric Labels in the Log ...\n')
  let shown: Timestamp | undefined
  for (const record of records) {
    const { time, digits } = record
    if (shown === undefined || compareTimes(shown, time) !== 0) {
      stamps.write(out, time.sec, time.nsec, digits)
      out.text('\n')
      shown = time
    }
    dumpRecord(dump, record)
  }
}

function collect({ files }: Dump, { base, label }: Member, records: LabelRecord[]): void {
  const meta = readMeta(base, files)
  const { view, path } = meta
  forEachMetaRecord(view, labelSize(label.version), path, (at, length, type) => {
    if (type !== META_LABEL_V2 && type !== META_LABEL) return
    checkLabels(view, at, length, type, path)
    const head = afterStamp(at, type)
    const level = view.getInt32(head) & ~(LABEL_COMPOUND | LABEL_OPTIONAL)
    const version = type === META_LABEL_V2 ? 2 : 3
    records.push({
      time: readStamp(view, at + 8, version),
      digits: label.version === 2 ? 6 : 9,
      rank: LEVELS.findIndex(([known]) => known === level),
      level,
      id: view.getUint32(head + 4),
      meta,
      sets: head + 8,
    })
  })
}

function dumpRecord({ form, out }: Dump, { meta: { view, bytes }, sets, level, id }: LabelRecord): void {
  let at = sets + 4
  for (let s = view.getInt32(sets); s > 0; s--) {
    const inst = view.getInt32(at)
    const size = view.getInt32(at + 4)
    const json = at + 8
    out.text(
      `    ${whose(level, id, inst)} labels (${size} bytes): ${form(decodeText(bytes, json, json + size))}\n`,
    )
    const count = Math.max(0, view.getInt32(json + size))
    at = json + size + 4
    for (let i = 0; i < count; i++, at += 8) {
      const [name, nameSize, flags] = [view.getUint16(at), view.getUint8(at + 2), view.getUint8(at + 3)]
      const [value, valueSize] = [view.getUint16(at + 4), view.getUint16(at + 6)]
      out.text(
        `        [${i}] name(${name},${nameSize}) : value(${value},${valueSize}) [${flagsText(flags)}]\n`,
      )
    }
  }
}

function whose(level: number, id: number, inst: number): string {
  switch (level) {
    case LABEL_CONTEXT:
      return 'Context'
    case LABEL_DOMAIN:
      return `Domain ${id}`
    case LABEL_CLUSTER:
      return `Cluster ${pmidStr(id).replace(/\.\d+$/, '')}`
    case LABEL_ITEM:
      return `PMID ${pmidStr(id)}`
    case LABEL_INDOM:
      return `InDom ${indomStr(id)}`
    default:
      return `InDom ${indomStr(id)}[${inst}]`
  }
}

function flagsText(flags: number): string {
  const names = LEVELS.filter(([level]) => (flags & level) !== 0).map(([, name]) => name)
  if ((flags & LABEL_COMPOUND) !== 0) names.push('compound')
  if ((flags & LABEL_OPTIONAL) !== 0) names.push('optional')
  return names.join(',')
}
