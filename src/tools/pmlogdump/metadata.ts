/** -l, -d, -e, -h, -i, -I: the label and the metadata of metrics and instances. */
import { labelSize } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import {
  afterStamp,
  checkIndom,
  checkLabels,
  DELETED,
  forEachMetaRecord,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
  TEXT_HELP,
  TEXT_INDOM,
  TEXT_ONELINE,
  TEXT_PMID,
} from '../../archive/meta-records.ts'
import { readStamp } from '../../archive/stamp.ts'
import { decodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { isError } from '../../model/errors.ts'
import { type Indom, indomStr, pmidStr } from '../../model/ids.ts'
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
import { printDesc } from '../../model/print.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { type MetaFile, readMeta } from '../lib/archive-input.ts'
import { type Dump, eachMember, namesOf } from './dump.ts'

/** The feature bit without a meaning. */
const KNOWN_FEATURES = 0x80000000

/** Prints the labels. */
export function dumpLabel(dump: Dump): void {
  const { archive, out } = dump
  if (archive.members.length > 1)
    out.text(`Note: multi-archive context with ${archive.members.length} archives\n`)
  eachMember(dump, (member) => dumpMemberLabel(dump, member))
}

function dumpMemberLabel({ end, form, out, stamps, wanted }: Dump, { label }: Member): void {
  const digits = label.version === 2 ? 6 : 9
  out.text(`Log Label (Log Format Version ${label.version})\n`)
  out.text(`Performance metrics from host ${form(label.hostname)}\n    commencing `)
  stamps.writeDate(out, label.start, digits)
  out.text('\n    ending     ')
  if (isError(end)) out.text('UNKNOWN')
  else stamps.writeDate(out, end, digits)
  out.text('\n')
  if (wanted.label === 'brief') return
  out.text(`Archive timezone: ${form(label.timezone)}\n`)
  if (label.zoneinfo !== '') out.text(`Archive zoneinfo: ${form(label.zoneinfo)}\n`)
  if (label.features !== 0) {
    const unknown = (label.features & ~KNOWN_FEATURES) >>> 0
    const text = unknown === 0 ? '' : ` [unknown: ${bitsOf(unknown)}]`
    out.text(`Archive features: 0x${label.features.toString(16)}${text}\n`)
  }
  out.text(`PID for pmlogger: ${label.pid}\n`)
}

/** Returns the numbers of the bits that are set. */
function bitsOf(word: number): string {
  return Array.from({ length: 32 }, (_, bit) => bit)
    .filter((bit) => (word & (1 << bit)) !== 0)
    .join(',')
}

/** Prints all descriptors. */
export function dumpDescs(dump: Dump): void {
  const { archive, out } = dump
  out.text('\nDescriptions for Metrics in the Log ...\n')
  const descs = [...archive.metadata.descs].sort(([a], [b]) => a - b)
  for (const [id, desc] of descs)
    out.text(`PMID: ${pmidStr(id)} (${namesOf(dump, id, '<noname>')})\n${printDesc(desc)}`)
}

/** Prints all instance domains by number, each over time. */
export function dumpIndoms(dump: Dump): void {
  const { archive, out } = dump
  out.text('\nInstance Domains in the Log ...\n')
  for (const indom of [...archive.metadata.indoms].sort((a, b) => a - b)) dumpHistory(dump, indom)
}

function dumpHistory({ archive, form, out, stamps }: Dump, indom: Indom): void {
  const digits = archive.label.version === 2 ? 6 : 9
  out.text(`InDom: ${indomStr(indom)}\n`)
  for (const snapshot of archive.metadata.snapshots(indom)) {
    const { sec, nsec, ids } = snapshot
    stamps.write(out, sec, nsec, digits)
    out.text(` ${ids.length} instances\n`)
    for (let i = 0; i < ids.length; i++) out.text(`   ${ids[i]} or "${form(snapshot.name(i))}"\n`)
  }
}

/** Prints the records with instances in the order of the metadata file. */
export function dumpStoredIndoms(dump: Dump): void {
  dump.out.text('\nInstance Domains on-disk ...\n')
  eachMember(dump, (member) => dumpStored(dump, member))
}

function dumpStored(dump: Dump, { base, label }: Member): void {
  const { bytes, view, path } = readMeta(base, dump.files)
  const text = (start: number): string => {
    const end = bytes.indexOf(0, start)
    return dump.form(decodeText(bytes, start, end < 0 ? bytes.length : end))
  }
  forEachMetaRecord(view, labelSize(label.version), path, (at, length, type) => {
    if (type !== META_INDOM_V2 && type !== META_INDOM && type !== META_INDOM_DELTA) return
    const { indom, count, ids, offsets, names } = checkIndom(view, at, length, type, path)
    const { sec, nsec } = readStamp(view, at + 8, type === META_INDOM_V2 ? 2 : 3)
    const isDelta = type === META_INDOM_DELTA
    dump.stamps.write(dump.out, sec, nsec, label.version === 2 ? 6 : 9)
    dump.out.text(` InDom: ${indomStr(indom)}${isDelta ? ' delta' : ''} ${count} instances\n`)
    for (let i = 0; i < count; i++) {
      const id = view.getInt32(ids + 4 * i)
      const offset = view.getInt32(offsets + 4 * i)
      if (offset === DELETED) dump.out.text(`   del ${id}\n`)
      else dump.out.text(`   ${isDelta ? 'add ' : ''}${id} or "${text(names + offset)}"\n`)
    }
  })
}

/** Levels in the order of output, with the names of their flags. */
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
  /** Fractional digits of the time, 6 or 9. */
  readonly digits: number
  /** Index of the level in LEVELS. */
  readonly rank: number
  readonly level: number
  readonly id: number
  readonly meta: MetaFile
  /** Offset of the number of sets. */
  readonly sets: number
}

/** Prints all label sets. */
export function dumpLabelSets(dump: Dump): void {
  const { archive, out, stamps } = dump
  const records: LabelRecord[] = []
  for (const member of archive.members) collectLabels(dump, member, records)
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

function collectLabels({ files }: Dump, { base, label }: Member, records: LabelRecord[]): void {
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

/** The help texts of a metric or instance domain. */
interface Texts {
  oneline?: string
  help?: string
}

/** Prints all help texts by number. */
export function dumpTexts(dump: Dump): void {
  const metrics = new Map<number, Texts>()
  const indoms = new Map<number, Texts>()
  for (const member of dump.archive.members) collectTexts(dump, member, metrics, indoms)
  dump.out.text('\nMetric Help Text in the Log ...\n')
  show(dump, metrics, (id) => `PMID: ${pmidStr(id)}`)
  show(dump, indoms, (id) => `InDom: ${indomStr(id)}`)
}

/** Collects texts; the last one for a metric or domain is used. */
function collectTexts(
  { files }: Dump,
  { base, label }: Member,
  metrics: Map<number, Texts>,
  indoms: Map<number, Texts>,
): void {
  const { bytes, view, path } = readMeta(base, files)
  forEachMetaRecord(view, labelSize(label.version), path, (at, length, type) => {
    if (type !== META_TEXT || length < 21) return
    const kind = view.getUint32(at + 8)
    const id = view.getUint32(at + 12)
    const owner = (kind & TEXT_PMID) !== 0 ? metrics : (kind & TEXT_INDOM) !== 0 ? indoms : undefined
    if (owner === undefined) return
    const texts = owner.get(id) ?? {}
    const nul = bytes.indexOf(0, at + 16)
    const text = decodeText(bytes, at + 16, Math.min(nul < 0 ? bytes.length : nul, at + length - 4))
    if ((kind & TEXT_ONELINE) !== 0) texts.oneline = text
    else if ((kind & TEXT_HELP) !== 0) texts.help = text
    owner.set(id, texts)
  })
}

function show({ out }: Dump, all: ReadonlyMap<number, Texts>, what: (id: number) => string): void {
  for (const [id, { oneline, help }] of [...all].sort(([a], [b]) => a - b)) {
    if (oneline !== undefined) out.text(`${what(id)} [${oneline}]\n`)
    if (help !== undefined) out.text(`${what(id)}\n${help}\n`)
  }
}
