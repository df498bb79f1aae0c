/** Archives truncated and changed at random: reading yields an error or a correct prefix, never another record, and throws only PcpErrors. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { scan } from '../../src/archive/scan.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { concat, entry, memoryFiles } from '../archive/build.ts'
import { sampleArchive } from '../archive/sample-archive.ts'
import { generator } from '../lib/generator.ts'
import { seed } from '../lib/seed.ts'

const LIMIT_MS = Number(process.env['FUZZ_MS'] ?? 10_000)
const RUNS = 1000
/** Archives of PCP's own tests, where they are installed. */
const INSTALLED = '/var/lib/pcp/testsuite/archives'
const NAMES = [
  '19970807.09.54',
  'omnibus-nomark_v3',
  'rattle',
  'all-ubuntu',
  'bug1057',
  'naslog',
  'derived-interval-pig',
]

type Files = Record<string, Uint8Array>

function installed(base: string): Files | undefined {
  const names = existsSync(INSTALLED) ? readdirSync(INSTALLED) : []
  const own = names.filter(
    (name) => name.startsWith(`${base}.`) && /^(meta|index|\d+)$/.test(name.slice(base.length + 1)),
  )
  if (own.length === 0) return undefined
  return Object.fromEntries(
    own.map((name) => [`a${name.slice(base.length)}`, new Uint8Array(readFileSync(`${INSTALLED}/${name}`))]),
  )
}

interface Seen {
  /** Bytes of each record, as text. */
  readonly records: readonly string[]
  readonly error: string | undefined
}

/** Reads everything in an archive. */
function readAll(files: Files): Seen {
  const records: string[] = []
  let opened: Archive
  try {
    opened = Archive.open('a', memoryFiles(files))
  } catch (error) {
    return { records, error: codeOf(error) }
  }
  const { metadata } = opened
  metadata.names.traverse()
  for (const id of metadata.indoms) metadata.instances(id, undefined, undefined)
  metadata.labels({ level: 1, id: 0xffffffff }, undefined)
  opened.end()
  const reader = new RecordReader(opened)
  let error: string | undefined
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      records.push(
        Buffer.from(record.bytes.subarray(record.offset, record.offset + record.length)).toString('latin1'),
      )
      record.toResult()
    }
  } catch (thrown) {
    error = codeOf(thrown)
  }
  try {
    reader.toEnd()
    for (let record = reader.previous(); record !== undefined; record = reader.previous()) record.toResult()
    reader.seek(opened.start, 'backward')
    reader.seek(opened.start, 'forward')
  } catch (thrown) {
    codeOf(thrown)
  }
  return { records, error }
}

function codeOf(error: unknown): string {
  expect(error).toBeInstanceOf(PcpError)
  return (error as PcpError).code
}

/** Whether these are some of the others, in order. A truncated volume may be followed by others. */
function isPartOf(records: readonly string[], others: readonly string[]): boolean {
  let at = 0
  return records.every((record) => {
    at = others.indexOf(record, at) + 1
    return at > 0
  })
}

const corpus = [
  sampleArchive(2),
  sampleArchive(3),
  ...NAMES.map(installed).filter((files) => files !== undefined),
].filter((files) => Object.values(files).reduce((sum, { length }) => sum + length, 0) < 500_000)

test('truncation yields a correct prefix, and an error unless it is between two records', () => {
  const pick = generator(seed)
  const whole = corpus.map((files) => readAll(files).records)
  const tally = { runs: 0, errors: 0, quiet: 0 }
  for (const end = Date.now() + LIMIT_MS; tally.runs < RUNS && Date.now() < end; tally.runs++) {
    const which = pick(corpus.length)
    const files = { ...corpus[which]! }
    const names = Object.keys(files)
    const name = names[pick(names.length)]!
    const length = pick(files[name]!.length)
    files[name] = files[name]!.subarray(0, length)
    const { records, error } = readAll(files)
    if (error !== undefined) tally.errors++
    else tally.quiet++
    if (/\.\d+$/.test(name)) expect(isPartOf(records, whole[which]!)).toBe(true)
    else expect(records).toEqual(error === undefined ? whole[which] : [])
  }
  console.log(
    `${tally.runs} truncations of ${corpus.length} archives: ${tally.errors} errors, ${tally.quiet} read`,
  )
})

test('a change inside a record is reported, or affects only this record', () => {
  const pick = generator(seed + 1)
  const whole = corpus.map((files) => readAll(files).records)
  const tally = { runs: 0, errors: 0, changed: 0, same: 0 }
  for (const end = Date.now() + LIMIT_MS; tally.runs < RUNS && Date.now() < end; tally.runs++) {
    const which = pick(corpus.length)
    const files = corpus[which]!
    const volumes = Object.keys(files).filter((name) => /\.\d+$/.test(name))
    const name = volumes[pick(volumes.length)]!
    const { records, error } = readAll(changed(files, name, pick))
    const differing = records.filter((record, i) => record !== whole[which]![i]).length
    // A few bytes are in at most two records; all others are unchanged.
    expect(differing).toBeLessThanOrEqual(2)
    if (error === undefined) expect(records.length).toBe(whole[which]!.length)
    if (error !== undefined) tally.errors++
    else if (differing > 0) tally.changed++
    else tally.same++
  }
  console.log(
    `${tally.runs} changes in ${corpus.length} archives: ${tally.errors} errors, ${tally.changed} changed values, ${tally.same} changed nothing`,
  )
})

/** Changes up to four bytes of one file after its label. */
function changed(files: Files, name: string, pick: (n: number) => number): Files {
  const bytes = files[name]!.slice()
  const label = new DataView(bytes.buffer).getInt32(0)
  const at = label + pick(bytes.length - label)
  const count = 1 + pick(4)
  for (let i = 0; i < count && at + i < bytes.length; i++)
    bytes[at + i] = [0, 0xff, 0x7f, pick(256)][pick(4)]!
  return { ...files, [name]: bytes }
}

/** Returns the record boundaries of a file. */
function boundaries(file: Uint8Array): number[] {
  const view = new DataView(file.buffer, file.byteOffset)
  const places = [view.getInt32(0)]
  for (let at = places[0]!; at < file.length; at += view.getInt32(at)) places.push(at + view.getInt32(at))
  return places
}

/** Makes an index with arbitrary times, mostly at record boundaries; every other index is in order. */
function wrongIndex(files: Files, version: 2 | 3, pick: (n: number) => number): Uint8Array[] {
  const entries = Array.from({ length: 1 + pick(6) }, () => {
    const volume = pick(2)
    const places = boundaries(files[`a.${volume}`]!)
    const offset = pick(10) === 0 ? pick(files['a.0']!.length) : places[pick(places.length)]!
    return { time: pick(62), volume, offset }
  })
  if (pick(2) === 0) {
    const columns = [entries.map(({ time }) => time), entries.map(({ offset }) => offset)]
    for (const column of columns) column.sort((a, b) => a - b)
    for (const [i, one] of entries.entries())
      Object.assign(one, { time: columns[0]![i], offset: columns[1]![i], volume: 0 })
  }
  return entries.map(({ time, volume, offset }) => entry(version, time, volume, 0, offset))
}

test('a wrong index does not change the result of seeking', () => {
  const pick = generator(seed + 2)
  const tally = { runs: 0, seeks: 0 }
  for (const end = Date.now() + LIMIT_MS; tally.runs < RUNS && Date.now() < end; tally.runs++) {
    const version = pick(2) === 0 ? 2 : 3
    const { 'a.index': old, ...plain } = sampleArchive(version)
    const head = old!.subarray(0, new DataView(old!.buffer, old!.byteOffset).getInt32(0))
    const index = concat(head, ...wrongIndex(plain, version, pick))
    const [whole, wrong] = [plain, { ...plain, 'a.index': index }].map((files) =>
      Archive.open('a', memoryFiles(files)),
    )
    for (let i = 0; i < 8; i++, tally.seeks++) {
      const time = { sec: pick(63) - 1, nsec: pick(2) * 5e8 }
      const direction = pick(2) === 0 ? 'forward' : 'backward'
      const [expected, found] = [whole!, wrong!].map((opened) => {
        const reader = new RecordReader(opened)
        reader.seek(time, direction)
        const record = direction === 'forward' ? reader.next() : reader.previous()
        return record && [record.volume, record.position]
      })
      expect(found).toEqual(expected)
    }
  }
  console.log(`${tally.runs} wrong indexes: ${tally.seeks} seeks`)
})

/** Computes everything from an archive: interpolated values and columns. */
function computeAll(files: Files): void {
  const opened = Archive.open('a', memoryFiles(files))
  const { metadata, start } = opened
  const ids = [...metadata.descs.keys()].slice(0, 12)
  for (const stepSec of [7.3, -7.3]) {
    const source = new ArchiveSource(opened)
    const end = opened.end()
    source.setMode('interpolate', stepSec > 0 || isError(end) ? start : end, stepSec)
    attempt(() => {
      for (let i = 0; i < 12; i++) source.fetchNow(ids)
    })
  }
  for (const id of ids) attempt(() => scan(opened, [id]))
  for (const kind of ['metric', 'indom'] as const)
    for (const id of metadata.textIds(kind, 'oneline')) metadata.text({ kind, id, level: 'oneline' })
}

function attempt(action: () => void): void {
  try {
    action()
  } catch (error) {
    codeOf(error)
  }
}

test('computing from changed metadata and values ends, and throws only PcpErrors', () => {
  const pick = generator(seed + 3)
  let runs = 0
  for (const end = Date.now() + LIMIT_MS; runs < RUNS && Date.now() < end; runs++) {
    const files = corpus[pick(corpus.length)]!
    const names = Object.keys(files).filter((name) => name !== 'a.index')
    attempt(() => computeAll(changed(files, names[pick(names.length)]!, pick)))
  }
  console.log(`${runs} changes, values between records and columns computed`)
})
