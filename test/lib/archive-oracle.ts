/** Archives of unique records, and a check that a directory's archives contain each of them exactly once. */
import { basename } from 'node:path'
import { Archive } from '../../src/archive/archive.ts'
import { Listings, parseFileName } from '../../src/archive/file-names.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { decodeLabel, labelSize } from '../../src/archive/label.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import type { OutputFiles } from '../../src/archive/write/output-files.ts'
import { type ArchiveFiles, readBytes } from '../../src/base/byte-source.ts'
import type { Timestamp } from '../../src/base/timestamp.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom as makeIndom, pmid as makePmid } from '../../src/model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_U32 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'

/** One record, identified by a value unique in the test. */
export interface OracleRecord {
  readonly value: number
  readonly sec: number
}

/** Records of one archive. */
export interface OracleArchive {
  readonly startSec: number
  readonly count: number
  /** Value of the first record; later records count up. */
  readonly firstValue: number
  /** Seconds between records. Default 1. */
  readonly stepSec?: number
  readonly hostname?: string
  /** Size limit of a volume. */
  readonly maxVolumeBytes?: number
}

/** A directory's archives as read back. */
export interface Reading {
  /** Records by base name, in file order, without marks. */
  readonly archives: ReadonlyMap<string, readonly OracleRecord[]>
  /** Host name in the label, by base name. */
  readonly hosts: ReadonlyMap<string, string>
  /** One sentence per unreadable or damaged archive or record. */
  readonly unreadable: readonly string[]
  /** Files that belong to no readable archive. */
  readonly strays: readonly string[]
}

const VALUE = makePmid(245, 0, 1)
const PART = makePmid(245, 0, 2)
const PARTS = makeIndom(245, 1)
/** Records per instance; makes metadata grow with the data. */
const RECORDS_OF_PART = 10
/** Problems of one kind that are listed. */
const MAX_SHOWN = 5

/** Records an archive and returns its records. */
export function writeArchive(files: OutputFiles, options: OracleArchive): OracleRecord[] {
  const { startSec, count, firstValue, stepSec = 1, hostname = 'oracle', maxVolumeBytes } = options
  const records = Array.from({ length: count }, (_, i) => ({
    value: firstValue + i,
    sec: startSec + i * stepSec,
  }))
  const archive = new ArchiveImport(files, {
    hostname,
    timezone: 'UTC',
    pid: 7,
    ...(maxVolumeBytes === undefined ? {} : { maxVolumeBytes }),
  })
  archive.addMetric('oracle.value', { type: PM_TYPE_U32, pmid: VALUE, sem: PM_SEM_DISCRETE })
  archive.addMetric('oracle.part', { type: PM_TYPE_U32, pmid: PART, indom: PARTS, sem: PM_SEM_DISCRETE })
  for (const { value, sec } of records) {
    archive.put('oracle.value', value)
    archive.put('oracle.part', value, partOf(value))
    archive.write({ sec, nsec: 0 })
  }
  archive.close()
  return records
}

function partOf(value: number): string {
  return `part-${Math.floor(value / RECORDS_OF_PART)}`
}

/** Reads every archive of a directory. `names` lists the directory, if `files` hides some of it; names that match `ignore` are skipped. */
export function readArchives(
  directory: string,
  files: ArchiveFiles,
  { names = files.list(directory), ignore = /^$/ }: { names?: readonly string[]; ignore?: RegExp } = {},
): Reading {
  const archives = new Map<string, readonly OracleRecord[]>()
  const hosts = new Map<string, string>()
  const unreadable: string[] = []
  for (const path of new Listings(files).bases(directory).sort()) {
    const base = basename(path)
    if (ignore.test(base)) continue
    const records: OracleRecord[] = []
    archives.set(base, records)
    try {
      hosts.set(
        base,
        readInto(records, path, files, (problem) => unreadable.push(`${base}: ${problem}`)),
      )
    } catch (error) {
      unreadable.push(`${base}: ${PcpError.from(error).message}`)
    }
  }
  const strays = names.filter((name) => {
    const base = parseFileName(name)?.base
    return !ignore.test(name) && (base === undefined || !archives.has(base))
  })
  return { archives, hosts, unreadable, strays: strays.sort() }
}

/** Reads an archive; returns its host name. */
function readInto(
  records: OracleRecord[],
  path: string,
  files: ArchiveFiles,
  onProblem: (problem: string) => void,
): string {
  checkLabels(path, files, onProblem)
  const archive = Archive.open(path, files, { onWarning: ({ message }) => onProblem(message) })
  try {
    const reader = new RecordReader(archive)
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.count === 0) continue
      const { sets, timestamp } = record.toResult()
      const [set, parts] = [VALUE, PART].map((id) => sets.find(({ pmid }) => pmid === id))
      if (set?.status !== 1 || parts === undefined || parts.status < 1) {
        onProblem(`the record of ${timestamp.sec} lacks values`)
        continue
      }
      records.push({ value: Number(extract(set, 0, PM_TYPE_U32)), sec: timestamp.sec })
      // In a reduced archive one record has the values of several.
      for (let i = 0; i < parts.status; i++) {
        const value = Number(extract(parts, i, PM_TYPE_U32))
        const name = instanceName(archive, parts.inst[i]!, timestamp)
        if (name !== partOf(value)) onProblem(`record ${value} is of instance ${name}, not ${partOf(value)}`)
      }
    }
    return archive.label.hostname
  } finally {
    archive.close()
  }
}

function instanceName(archive: Archive, id: number, at: Timestamp): string | undefined {
  try {
    return archive.metadata.instances(PARTS, { id }, at).names[0]
  } catch (error) {
    return PcpError.from(error).code
  }
}

/** Checks that the labels of all files of an archive agree. */
function checkLabels(base: string, files: ArchiveFiles, onProblem: (problem: string) => void): void {
  const { meta, index, volumes } = new Listings(files).member(base)
  const paths = [meta, ...(index === undefined ? [] : [index]), ...volumes.map(({ path }) => path)]
  const labels = paths.map((path) => {
    const source = files.open(path)
    try {
      const { version, pid, hostname, timezone } = decodeLabel(readBytes(source, 0, labelSize(3)), path)
      return JSON.stringify({ version, pid, hostname, timezone })
    } finally {
      source.close()
    }
  })
  if (new Set(labels).size > 1) onProblem(`labels differ: ${[...new Set(labels)].join(' ')}`)
}

/** Returns a sentence for each kind of problem: lost, duplicate, changed, unknown and unreadable records. */
export function problemsOf(expected: readonly OracleRecord[], { archives, unreadable }: Reading): string[] {
  const found = new Map<number, string[]>()
  const times = new Map<number, number>()
  for (const [base, records] of archives)
    for (const { value, sec } of records) {
      const bases = found.get(value)
      if (bases === undefined) found.set(value, [base])
      else bases.push(base)
      times.set(value, sec)
    }
  const lost: number[] = []
  const twice = new Map<string, number[]>()
  const changed: number[] = []
  for (const { value, sec } of expected) {
    const bases = found.get(value)
    if (bases === undefined) lost.push(value)
    else if (bases.length > 1)
      twice.set(bases.join(' and '), [...(twice.get(bases.join(' and ')) ?? []), value])
    else if (times.get(value) !== sec) changed.push(value)
  }
  const known = new Set(expected.map(({ value }) => value))
  const unknown = [...found.keys()].filter((value) => !known.has(value))
  return [
    ...unreadable.slice(0, MAX_SHOWN),
    ...(unreadable.length > MAX_SHOWN ? [`${unreadable.length - MAX_SHOWN} more problems`] : []),
    ...sentence('lost', lost),
    ...[...twice].flatMap(([bases, values]) => sentence(`more than once, in ${bases}`, values)),
    ...sentence('with another time', changed),
    ...sentence('never recorded', unknown),
  ]
}

function sentence(what: string, values: readonly number[]): string[] {
  if (values.length === 0) return []
  const shown = values.slice(0, MAX_SHOWN).join(', ')
  return [`${values.length} records ${what}: ${shown}${values.length > MAX_SHOWN ? ', …' : ''}`]
}
