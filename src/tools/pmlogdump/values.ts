/** -m: records with their values, oldest or newest first. */
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { ByteText } from '../../base/byte-text.ts'
import { PcpError } from '../../model/errors.ts'
import { type EventRecord, type Parameter, PM_EVENT_FLAG_MISSED, unpackEvents } from '../../model/events.ts'
import { PM_IN_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { eventFlagsStr, type PrintOptions, printValue } from '../../model/print.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_TYPE_UNKNOWN,
  PM_VAL_INSITU,
} from '../../model/types.ts'
import type { ValueSet } from '../../model/values.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { ctime } from '../../time/stamp.ts'
import { printOptions } from '../lib/print.ts'
import { RecordsBetween } from '../lib/records-between.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import { type Dump, drain, namesOf } from './dump.ts'
import { type MetricText, MetricTexts } from './metric-texts.ts'

/** A dump with cached metric texts. */
interface ValueDump extends Dump {
  readonly metrics: MetricTexts
  readonly values: ValueText
}

/**
 * Prints the records in the window, or only the values of the named metrics. Returns status 1 if a record is unreadable or all names
 * are unknown.
 */
export async function dumpValues(dump: Dump, names: readonly string[]): Promise<number> {
  const { archive, io, out, wanted } = dump
  const wantedIds = names.length === 0 ? undefined : await idsOf(dump, names)
  if (wantedIds?.size === 0) {
    io.stderr.write('No metric names can be translated, dump abandoned\n')
    return 1
  }
  const metrics = new MetricTexts(dump)
  const values = new ValueText(printOptions(dump.zone, io))
  const show: ValueDump = { ...dump, metrics, values }
  const reader = new RecordReader(archive, { reportsTears: true })
  // In reverse order the first line has the time of the newest record to show, or of an earlier one if the window is empty.
  const start = wanted.reverse ? { sec: Number.NEGATIVE_INFINITY, nsec: 0 } : dump.start
  const records = new RecordsBetween(reader, start, dump.finish, wanted.reverse)
  let isFirst = true
  try {
    for (let record = records.next(); record !== undefined; record = records.next()) {
      const isBefore = wanted.reverse && compareTimes(record.timestamp(), dump.start) < 0
      if (isBefore && !isFirst) break
      const sets = wantedIds && setsOf(show, record, wantedIds)
      if (sets === NONE) continue
      if (isFirst && wanted.reverse)
        out.text(`\nLog finished at ${ctime(record.sec, dump.zone)} - dump in reverse order\n`)
      isFirst = false
      if (isBefore) break
      dumpRecord(show, record, sets)
      await drain(dump)
    }
    return 0
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    await drain(dump, true)
    io.stderr.write(`${io.progname}: pmFetch: ${error.text}\n`)
    return 1
  }
}

/** Returns the PMIDs of all metrics at or below the names, without duplicates; reports unknown names and the empty name. */
async function idsOf({ names: known, io }: Dump, names: readonly string[]): Promise<ReadonlySet<Pmid>> {
  const ids = new Set<Pmid>()
  for (const name of names) {
    try {
      if (name === '') throw new PcpError('PM_ERR_NAME')
      known.walk(name, (_, id) => {
        ids.add(id)
      })
    } catch (error) {
      const problem = PcpError.from(error)
      const hint = await didYouMeanMetric(name, problem, known.traverse(), io)
      io.stderr.write(`${io.progname}: pmLookupName(${name}): ${problem.text}${hint}\n`)
    }
  }
  return ids
}

/** Returns the indexes of value sets in the order metrics were named; all for a mark to be shown, NONE without matches. */
function setsOf(
  { wanted }: ValueDump,
  record: RecordView,
  ids: Iterable<Pmid>,
): readonly number[] | undefined {
  if (record.count === 0) return wanted.marks ? undefined : NONE
  const sets = Array.from(ids, (id) => record.find(id)).filter((set) => set >= 0)
  return sets.length > 0 ? sets : NONE
}

function dumpRecord(dump: ValueDump, record: RecordView, sets: readonly number[] | undefined): void {
  const { out, wanted, stamps } = dump
  out.byte(0x0a)
  if (wanted.sizes) out.text(`[${sets === undefined ? record.length : sizeOfSets(record, sets)} bytes]\n`)
  stamps.write(out, record.sec, record.nsec, record.version === 2 ? 6 : 9)
  if (record.count === 0) {
    out.text('  <mark>\n')
    return
  }
  const count = sets?.length ?? record.count
  out.text(` ${count} metric${count === 1 ? '' : 's'}\n`)
  dump.metrics.begin(record)
  for (let k = 0; k < count; k++) dumpSet(dump, record, sets === undefined ? k : sets[k]!)
}

/** Returns the length of a record with only these value sets. */
function sizeOfSets(record: RecordView, sets: readonly number[]): number {
  let size = WORD * (record.version === 2 ? RECORD_WORDS_V2 : RECORD_WORDS_V3)
  for (const s of sets) {
    const count = Math.max(0, record.statuses[s]!)
    size += WORD * (count === 0 ? 2 : 3 + 2 * count)
    if (record.formats[s] === PM_VAL_INSITU) continue
    for (let i = 0; i < count; i++) {
      const block = record.blockAt(record.view.getInt32(record.pairs[s]! + 8 * i + WORD))
      const length = record.view.getUint32(block) & BLOCK_LENGTH
      size += WORD * Math.ceil(length / WORD)
    }
  }
  return size
}

function dumpSet(dump: ValueDump, record: RecordView, s: number): void {
  const { out, metrics, values } = dump
  const metric = metrics.at(s, record.pmids[s]!)
  const status = record.statuses[s]!
  out.reserve(metric.head.length)
  if (status > 0 && (metric.type === PM_TYPE_EVENT || metric.type === PM_TYPE_HIGHRES_EVENT)) {
    writeEvents(dump, record, s, metric)
    return
  }
  out.raw(metric.head)
  if (status <= 0) {
    out.text(status === 0 ? ': No values returned!\n' : `: ${PcpError.fromStatus(status).text}\n`)
    return
  }
  const pairs = record.pairs[s]!
  const { view } = record
  out.byte(0x3a)
  if (status > 1) out.byte(0x0a)
  for (let i = 0; i < status; i++) {
    const inst = view.getInt32(pairs + 8 * i)
    if (status > 1) out.raw(EIGHT_BLANKS)
    else out.byte(0x20)
    if (!metric.isSingular) out.raw(metric.instance(i, inst))
    out.raw(VALUE)
    values.write(out, record, s, i, metric.type)
    out.byte(0x0a)
  }
}

/** Result for a record without requested metrics. */
const NONE: readonly number[] = []
const WORD = 4
/** Words of a record without value sets: its length twice, its time, the number of value sets. */
const RECORD_WORDS_V2 = 5
const RECORD_WORDS_V3 = 6
/** Mask of the length in a value block's first word; the type is in the upper byte. */
const BLOCK_LENGTH = 0xffffff
const EIGHT_BLANKS: Uint8Array = new Uint8Array(8).fill(0x20)
const VALUE: Uint8Array = Uint8Array.of(0x76, 0x61, 0x6c, 0x75, 0x65, 0x20)

/** Writes the event records of value set `s`. */
function writeEvents(dump: ValueDump, record: RecordView, s: number, metric: MetricText): void {
  const { out } = dump
  const set = record.toSet(s)
  for (let i = 0; i < set.status; i++) {
    const inst = set.inst[i]!
    const where = metric.isSingular || inst === PM_IN_NULL ? '' : `[${metric.instanceName(inst)}]`
    out.text(`    ${pmidStr(metric.id)} (${metric.names}${where}): `)
    let records: EventRecord[]
    try {
      records = unpackEvents(set, i, metric.type)
    } catch (error) {
      const { text } = PcpError.from(error)
      out.text(`${text}\n`)
      continue
    }
    out.text(`${headline(records)}\n`)
    for (const [k, event] of records.entries()) writeEvent(dump, event, k, metric.type)
  }
}

function headline(records: readonly EventRecord[]): string {
  if (records.length === 0) return 'No event records'
  const missed = records.reduce((sum, record) => sum + record.missed, 0)
  const count = records.length
  return `${count}${missed === 0 ? '' : ` (and ${missed} missed)`} event record${count === 1 ? '' : 's'}`
}

function writeEvent(dump: ValueDump, event: EventRecord, k: number, type: number): void {
  const { out, stamps } = dump
  const { timestamp, flags, missed, params } = event
  out.text(`        --- event record [${k}] timestamp `)
  stamps.write(out, timestamp.sec, timestamp.nsec, type === PM_TYPE_HIGHRES_EVENT ? 9 : 6)
  if (flags !== 0) out.text(` flags 0x${flags.toString(16)} (${eventFlagsStr(flags)})`)
  out.text(' ---\n')
  if (flags === PM_EVENT_FLAG_MISSED) out.text(`        ==> ${missed} missed event records\n`)
  else if (flags === 0 && params.length === 0) out.text('\t          No parameters\n')
  for (const param of params) writeParameter(dump, param)
}

function writeParameter(dump: ValueDump, param: Parameter): void {
  if (!dump.archive.metadata.descs.has(param.pmid)) {
    const { text } = new PcpError('PM_ERR_PMID_LOG')
    dump.out.text(`        PMID: ${pmidStr(param.pmid)}: pmLookupDesc: ${text}\n`)
    return
  }
  const value = printValue(param, 0, param.type, 1, printOptions(dump.zone, dump.io))
  dump.out.text(
    `        ${pmidStr(param.pmid)} (${namesOf(dump, param.pmid, '<nonames>')}): value ${value}\n`,
  )
}

/** Significant digits of a float and of a double. */
const FLOAT_DIGITS = 8
const DOUBLE_DIGITS = 16
/** First words of blocks with one number. */
const BLOCK_64 = (PM_TYPE_64 << 24) | 12
const BLOCK_U64 = (PM_TYPE_U64 << 24) | 12
const BLOCK_DOUBLE = (PM_TYPE_DOUBLE << 24) | 12
const BLOCK_FLOAT = (PM_TYPE_FLOAT << 24) | 8
const QUOTE = 0x22

/** Writes values; unusual numbers and texts are formatted by `printValue`. */
class ValueText {
  readonly #options: PrintOptions
  /** Whether text has to be escaped. */
  readonly #isFormed: boolean
  #set: ValueSet | undefined
  #setOf = -1
  #setAt = -1

  constructor(options: PrintOptions) {
    this.#options = options
    this.#isFormed = options.squashSpace === true || options.isOneLine === true
  }

  /** Writes value `i` of value set `s`. */
  write(out: ByteText, record: RecordView, s: number, i: number, type: number): void {
    const { view } = record
    const at = record.pairs[s]! + 8 * i + 4
    if (record.formats[s] === PM_VAL_INSITU) {
      if (type === PM_TYPE_UNKNOWN) this.write(out, record, s, i, PM_TYPE_32)
      else if (type === PM_TYPE_U32) out.int(view.getUint32(at))
      else if (type === PM_TYPE_32) out.int(view.getInt32(at))
      else if (type === PM_TYPE_FLOAT) writeFloat(out, view, at)
      else this.#writeOther(out, record, s, i, type)
      return
    }
    const block = record.blockAt(view.getInt32(at))
    const head = view.getInt32(block)
    if (head === BLOCK_U64 && type === PM_TYPE_U64)
      out.int64(view.getUint32(block + 4), view.getUint32(block + 8))
    else if (head === BLOCK_DOUBLE && type === PM_TYPE_DOUBLE) writeDouble(out, view, block + 4)
    else if (head === BLOCK_64 && type === PM_TYPE_64)
      out.int64(view.getInt32(block + 4), view.getUint32(block + 8))
    else if (head === BLOCK_FLOAT && type === PM_TYPE_FLOAT) writeFloat(out, view, block + 4)
    else if (head >>> 24 === PM_TYPE_STRING && type === PM_TYPE_STRING && !this.#isFormed)
      writeString(out, record.bytes, block + 4, block + (head & 0xffffff))
    else if (type === PM_TYPE_UNKNOWN && head >>> 24 !== PM_TYPE_UNKNOWN)
      this.write(out, record, s, i, head >>> 24)
    else this.#writeOther(out, record, s, i, type)
  }

  #writeOther(out: ByteText, record: RecordView, s: number, i: number, type: number): void {
    if (this.#set === undefined || this.#setOf !== record.position || this.#setAt !== s) {
      this.#set = record.toSet(s)
      this.#setOf = record.position
      this.#setAt = s
    }
    out.text(printValue(this.#set, i, type, 1, this.#options))
  }
}

function writeFloat(out: ByteText, view: DataView, at: number): void {
  const value = view.getFloat32(at)
  if (Number.isNaN(value)) writeNan(out, view.getInt32(at))
  else out.general(value, FLOAT_DIGITS)
}

function writeDouble(out: ByteText, view: DataView, at: number): void {
  const value = view.getFloat64(at)
  if (Number.isNaN(value)) writeNan(out, view.getInt32(at))
  else out.general(value, DOUBLE_DIGITS)
}

/** Writes NaN with its sign, like the C library. */
function writeNan(out: ByteText, word: number): void {
  out.text(word < 0 ? '-nan' : 'nan')
}

/** Writes text in quotes, up to its NUL. */
function writeString(out: ByteText, bytes: Uint8Array, start: number, end: number): void {
  const nul = bytes.indexOf(0, start)
  out.byte(QUOTE)
  out.raw(bytes.subarray(start, nul < 0 || nul > end ? end : nul))
  out.byte(QUOTE)
}
