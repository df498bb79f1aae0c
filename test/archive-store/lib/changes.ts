/** Each kind of change of archives on a simulated disk, with the archives before and after it. */
import { gzipSync } from 'node:zlib'
import { parseFileName } from '../../../src/archive/file-names.ts'
import { removeArchive } from '../../../src/archive-store/files.ts'
import { stagedOutput } from '../../../src/archive-store/staged-output.ts'
import { recover, Transaction, type TransactionOptions } from '../../../src/archive-store/transaction.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { type FileIdentity, identifyFile } from '../../../src/sys/staging.ts'
import { type OracleRecord, readArchives, writeArchive } from '../../lib/archive-oracle.ts'
import type { MemoryDisk } from '../../lib/memory-disk.ts'
import { filesOf, readFile, writeFile } from '../../lib/memory-files.ts'

/** Archives by path. */
export type Content = ReadonlyMap<
  string,
  { readonly host: string; readonly records: readonly OracleRecord[] }
>

/** One kind of change. */
export interface Change {
  readonly name: string
  readonly before: Content
  readonly after: Content
  /** Makes the archives of `before`. */
  prepare(disk: MemoryDisk): void
  /** Whether a failed change may have taken effect. */
  readonly isFinalWhenFailed: boolean
  /** Changes them. */
  run(disk: MemoryDisk): Promise<void>
  /** Recovers as the next command would, in another process or in the process that made the change. */
  recover(disk: MemoryDisk, isOtherProcess: boolean): Promise<void>
}

const DIR = '/archives'
const OTHER = '/other'
const DIRECTORIES = [DIR, OTHER] as const
/** Records of an input. */
const RECORDS = 6
const OLD = 'before'
const NEW = 'after'

/** Returns options of transactions on a simulated disk. */
function storeOptions(disk: MemoryDisk): TransactionOptions {
  return { disk, uid: 0, hasEnded: () => false, nowMs: () => 0, lock: async () => ({ release: () => {} }) }
}

/** Returns the names in the directories that belong to no archive. */
export function leftovers(disk: MemoryDisk): string[] {
  return DIRECTORIES.flatMap((directory) => {
    const names = disk.list(directory)
    return readArchives(directory, filesOf(disk), { names }).strays.map(
      (name) => `${directory}/${name} is left`,
    )
  })
}

/** Compares the readable archives with the expected ones. */
export function differences(disk: MemoryDisk, expected: Content): string[] {
  const problems: string[] = []
  const found = new Map<string, string>()
  for (const directory of DIRECTORIES) {
    const { archives, hosts, unreadable } = readArchives(directory, filesOf(disk))
    problems.push(...unreadable)
    for (const [base, records] of archives)
      found.set(`${directory}/${base}`, describe(hosts.get(base) ?? '', records))
  }
  for (const [path, { host, records }] of expected) {
    const text = describe(host, records)
    if (!found.has(path)) problems.push(`${path} is missing`)
    else if (found.get(path) !== text) problems.push(`${path} has ${found.get(path)} instead of ${text}`)
  }
  for (const path of found.keys()) if (!expected.has(path)) problems.push(`${path} is there`)
  return problems
}

function describe(host: string, records: readonly OracleRecord[]): string {
  return `${host}: ${records.map(({ value, sec }) => `${value}@${sec}`).join(' ')}`
}

/** Records of an archive, the index-th of an input. */
function recordsOf(index: number, count = 1): OracleRecord[] {
  return Array.from({ length: RECORDS * count }, (_, i) => {
    const n = index * RECORDS + i
    return { value: n + 1, sec: 1000 + 10 * n }
  })
}

function write(
  output: Parameters<typeof writeArchive>[0],
  index: number,
  count: number,
  host: string,
  volumes: number,
): void {
  const { value, sec } = recordsOf(index)[0]!
  const options = { startSec: sec, count: count * RECORDS, firstValue: value, stepSec: 10, hostname: host }
  const maxVolumeBytes = 808 + 64 * Math.ceil((count * RECORDS) / volumes)
  writeArchive(output, { ...options, maxVolumeBytes })
}

/** Returns the paths of an archive's files. */
function pathsOf(disk: MemoryDisk, base: string): string[] {
  return disk
    .list(DIR)
    .filter((name) => parseFileName(name)?.base === base)
    .map((name) => `${DIR}/${name}`)
}

function marksOf(disk: MemoryDisk, bases: readonly string[]): FileIdentity[] {
  return bases.flatMap((base) => pathsOf(disk, base).map((path) => identifyFile(disk, path)!))
}

interface ChangeOptions {
  readonly name: string
  /** Archives at the beginning, and volumes of each. */
  readonly inputs: number
  readonly volumes?: number
  readonly after: (before: Content) => Content
  readonly run: (disk: MemoryDisk, bases: readonly string[]) => Promise<void>
  readonly recover?: (disk: MemoryDisk) => Promise<void>
  readonly isFinalWhenFailed?: boolean
}

function change({
  name,
  inputs,
  volumes = 1,
  after,
  run,
  recover: recoverMore,
  isFinalWhenFailed = false,
}: ChangeOptions): Change {
  const bases = Array.from({ length: inputs }, (_, i) => `part${i}`)
  const before: Content = new Map(
    bases.map((base, i) => [`${DIR}/${base}`, { host: OLD, records: recordsOf(i) }]),
  )
  return {
    name,
    isFinalWhenFailed,
    before,
    after: after(before),
    prepare(disk) {
      for (const directory of DIRECTORIES) disk.mkdir(directory)
      for (const [i, base] of bases.entries())
        write(archiveOutput(`${DIR}/${base}`, { disk }), i, 1, OLD, volumes)
    },
    run: (disk) => run(disk, bases),
    async recover(disk, isOtherProcess) {
      for (const directory of DIRECTORIES)
        await recover(directory, { ...storeOptions(disk), hasEnded: () => isOtherProcess })
      await recoverMore?.(disk)
    },
  }
}

/** Replaces archives by one with all their records. */
async function replace(
  disk: MemoryDisk,
  inputs: readonly string[],
  output: string,
  volumes: number,
): Promise<void> {
  const staged = stagedOutput(`${DIR}/${output}`, {
    ...storeOptions(disk),
    bufferBytes: 100,
    inputs: marksOf(disk, inputs),
  })
  try {
    write(staged, 0, inputs.length, NEW, volumes)
    await staged.commit()
  } finally {
    staged.abandon()
  }
}

/** Runs one transaction in the first directory. */
async function transact(disk: MemoryDisk, action: (transaction: Transaction) => void): Promise<void> {
  const transaction = new Transaction(DIR, storeOptions(disk))
  try {
    try {
      action(transaction)
    } catch (error) {
      throw PcpError.from(error, DIR) // as the commands do, whose files these are
    }
    await transaction.commit()
  } finally {
    transaction.abandon()
  }
}

function moved(before: Content, rename: (path: string) => string): Content {
  return new Map([...before].map(([path, archive]) => [rename(path), archive]))
}

const merged = (inputs: number): Content =>
  new Map([[`${DIR}/whole`, { host: NEW, records: recordsOf(0, inputs) }]])

const toOther = (path: string): string => path.replace(DIR, OTHER)

/** Removes the rest of an archive that has lost its metadata, as the next removal does. */
async function removeRest(disk: MemoryDisk): Promise<void> {
  const names = disk.list(DIR).flatMap((name) => ({ name, ...parseFileName(name)! }))
  if (!names.some(({ base, part }) => base === 'part1' && part === 'meta'))
    removeArchive(
      DIR,
      names.filter(({ base }) => base === 'part1'),
      disk,
    )
}

/** All kinds of changes. */
export const CHANGES: readonly Change[] = [
  ...[2, 4].map((inputs) =>
    change({
      name: `merge of ${inputs}`,
      inputs,
      after: () => merged(inputs),
      run: (disk, bases) => replace(disk, bases, 'whole', 2),
    }),
  ),
  change({
    name: 'replacement in place with fewer volumes',
    inputs: 1,
    volumes: 3,
    after: () => new Map([[`${DIR}/part0`, { host: NEW, records: recordsOf(0) }]]),
    run: (disk, bases) => replace(disk, bases, 'part0', 1),
  }),
  change({
    name: 'replacement in place with more volumes',
    inputs: 1,
    after: () => new Map([[`${DIR}/part0`, { host: NEW, records: recordsOf(0) }]]),
    run: (disk, bases) => replace(disk, bases, 'part0', 3),
  }),
  change({
    name: 'compression',
    inputs: 1,
    volumes: 2,
    after: (before) => before,
    async run(disk, [base]) {
      for (const path of pathsOf(disk, base!).filter((each) => !each.endsWith('.gz')))
        await transact(disk, (transaction) => {
          transaction.remove(path)
          const staged = `${transaction.staging()}/compressed.gz`
          writeFile(disk, staged, gzipSync(readFile(disk, path)))
          transaction.stageAs(staged, `${path}.gz`)
        })
    },
  }),
  change({
    name: 'removal',
    inputs: 2,
    volumes: 2,
    after: (before) => new Map([...before].filter(([path]) => !path.endsWith('part1'))),
    async run(disk) {
      const files = disk.list(DIR).map((name) => ({ name, ...parseFileName(name)! }))
      removeArchive(
        DIR,
        files.filter(({ base }) => base === 'part1'),
        disk,
      )
    },
    isFinalWhenFailed: true,
    recover: removeRest,
  }),
  change({
    name: 'move to another directory',
    inputs: 1,
    volumes: 2,
    after: (before) => moved(before, toOther),
    run: (disk, [base]) =>
      transact(disk, (transaction) => {
        for (const path of pathsOf(disk, base!)) {
          transaction.remove(path)
          disk.link(path, transaction.stage(toOther(path)))
        }
      }),
  }),
  change({
    name: 'move to another file system',
    inputs: 1,
    after: (before) => moved(before, toOther),
    run: (disk, [base]) =>
      transact(disk, (transaction) => {
        for (const path of pathsOf(disk, base!)) {
          transaction.remove(path)
          writeFile(disk, transaction.stage(toOther(path)), readFile(disk, path))
        }
      }),
  }),
  change({
    name: 'renaming',
    inputs: 1,
    volumes: 2,
    after: (before) => moved(before, () => `${DIR}/renamed`),
    run: (disk, [base]) =>
      transact(disk, (transaction) => {
        for (const path of pathsOf(disk, base!)) {
          transaction.remove(path)
          disk.link(path, transaction.stage(path.replace('part0', 'renamed')))
        }
      }),
  }),
  change({
    name: 'copy',
    inputs: 1,
    volumes: 2,
    after: (before) => new Map([...before, ...moved(before, toOther)]),
    run: (disk, [base]) =>
      transact(disk, (transaction) => {
        for (const path of pathsOf(disk, base!))
          writeFile(disk, transaction.stage(toOther(path)), readFile(disk, path))
      }),
  }),
]
