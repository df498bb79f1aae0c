/**
 * The archives that `npm start` has made of one host: which there are, compressed after a day, removed by age and size.
 * docs/start.md
 *
 *     20261120.15.20.{0,1..,meta,index} ──a day──► .0.gz .1.gz .meta.gz .index ──age, size──► gone
 */
import { createReadStream, createWriteStream, readdirSync, rmSync, statSync } from 'node:fs'
import { rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { parseFileName } from '../archive/file-names.ts'
import { PcpError } from '../model/errors.ts'

/** An archive with all its files. */
export interface StoredArchive {
  /** Base name. */
  readonly name: string
  readonly files: readonly StoredFile[]
  readonly bytes: number
  /** When it was last written to, in milliseconds since the epoch. */
  readonly lastMs: number
}

/** One file of an archive. */
export interface StoredFile {
  readonly name: string
  /** `meta`, `index` or the number of a volume. */
  readonly part: string
  readonly isCompressed: boolean
  readonly bytes: number
  readonly lastMs: number
}

/** What may stay, and how. */
export interface KeepPolicy {
  /** Archives not written to for so long are compressed. */
  readonly compressAfterMs: number
  /** Archives not written to for so long are removed. */
  readonly keepMs: number
  /** Bytes that all archives may have; the oldest are removed first. */
  readonly keepBytes: number
}

/** What tidying has done. */
export interface Tidied {
  /** Names of archives. */
  readonly compressed: readonly string[]
  readonly removed: readonly string[]
  /** What could not be done, a sentence each. */
  readonly problems: readonly string[]
}

/** Names that the recorder gives: nothing else in the directory is ours to touch. */
const OURS = /^\d{8}\.\d\d\.\d\d(?:-\d\d)?$/
/** A file being compressed; nobody takes it for part of an archive. */
const UNFINISHED = /^(\d{8}\.\d\d\.\d\d(?:-\d\d)?)\.[^.]+\.gz\.new$/

/** The archives in a directory, oldest first; none where there is no directory. Throws Node's error. */
export function storedArchives(dir: string): StoredArchive[] {
  const files = new Map<string, StoredFile[]>()
  for (const name of namesIn(dir)) {
    const parsed = parseFileName(name)
    if (parsed === undefined || !OURS.test(parsed.base)) continue
    const stats = statSync(join(dir, name), { throwIfNoEntry: false })
    if (stats?.isFile() !== true) continue
    const { part, suffix } = parsed
    const list = files.get(parsed.base) ?? []
    list.push({ name, part, isCompressed: suffix !== '', bytes: stats.size, lastMs: stats.mtimeMs })
    files.set(parsed.base, list)
  }
  const archives = [...files].map(([name, list]) => ({
    name,
    files: list,
    bytes: list.reduce((sum, { bytes }) => sum + bytes, 0),
    lastMs: Math.max(...list.map(({ lastMs }) => lastMs)),
  }))
  return archives.sort((a, b) => a.lastMs - b.lastMs || (a.name < b.name ? -1 : 1))
}

/** Bytes of all archives in a directory. */
export function storedBytes(archives: readonly StoredArchive[]): number {
  return archives.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * Removes archives that are too old, compresses those that are old enough, and removes the oldest until the rest is small
 * enough. `inUse` names the one being written now, which is left alone but counts. What fails is told, and the rest is done.
 */
export async function tidyArchives(
  dir: string,
  policy: KeepPolicy,
  { nowMs, inUse, signal }: { nowMs: number; inUse: () => string | undefined; signal: AbortSignal },
): Promise<Tidied> {
  const compressed: string[] = []
  const removed: string[] = []
  const problems: string[] = []
  const remove = (archive: StoredArchive): boolean => {
    const problem = removeArchive(dir, archive)
    if (problem === undefined) removed.push(archive.name)
    else problems.push(problem)
    return problem === undefined
  }
  try {
    removeUnfinished(dir)
    for (const archive of storedArchives(dir)) {
      const age = nowMs - archive.lastMs
      if (archive.name === inUse() || age < Math.min(policy.compressAfterMs, policy.keepMs)) continue
      if (signal.aborted) break
      if (age >= policy.keepMs) remove(archive)
      else if (await compressArchive(dir, archive, signal, problems)) compressed.push(archive.name)
    }
    const left = storedArchives(dir)
    let bytes = storedBytes(left)
    for (const archive of left) {
      if (bytes <= policy.keepBytes) break
      if (archive.name !== inUse() && remove(archive)) bytes -= archive.bytes
    }
  } catch (error) {
    problems.push(`Cannot tidy ${dir}: ${PcpError.from(error).text}`)
  }
  return { compressed, removed, problems }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return []
    throw error
  }
}

/** What a process that was killed has begun. */
function removeUnfinished(dir: string): void {
  for (const name of namesIn(dir)) if (UNFINISHED.test(name)) rmSync(join(dir, name), { force: true })
}

/** Returns what went wrong. Metadata goes first: without it there is no archive, whatever happens then. */
function removeArchive(dir: string, { name, files }: StoredArchive): string | undefined {
  try {
    const metaFirst = [...files].sort((a, b) => Number(b.part === 'meta') - Number(a.part === 'meta'))
    for (const file of metaFirst) rmSync(join(dir, file.name), { force: true })
    return undefined
  } catch (error) {
    return `Cannot remove the archive ${join(dir, name)}: ${PcpError.from(error).text}`
  }
}

/** Compresses what is not yet; true when something was. The index stays as it is, small and read in parts. */
async function compressArchive(
  dir: string,
  { files }: StoredArchive,
  signal: AbortSignal,
  problems: string[],
): Promise<boolean> {
  let hasDone = false
  for (const file of files) {
    if (file.isCompressed || file.part === 'index') continue
    try {
      await compressFile(join(dir, file.name), file.lastMs, signal)
      hasDone = true
    } catch (error) {
      if (signal.aborted) return hasDone
      problems.push(`Cannot compress ${join(dir, file.name)}: ${PcpError.from(error).text}`)
    }
  }
  return hasDone
}

/** Replaces a file by a compressed one of the same age: complete and on the disk before the other one goes. */
async function compressFile(path: string, lastMs: number, signal: AbortSignal): Promise<void> {
  const target = `${path}.gz`
  const unfinished = `${target}.new`
  try {
    const output = createWriteStream(unfinished, { flush: true })
    await pipeline(createReadStream(path), createGzip(), output, { signal })
    await utimes(unfinished, lastMs / 1000, lastMs / 1000)
    await rename(unfinished, target)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  rmSync(path)
}
