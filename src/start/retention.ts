/**
 * Retention of the archives that `npm start` records: compressed after a day, removed by age and size.
 * docs/start/npm-start.md
 *
 *     20261120.15.20.{0,1..,meta,index} ──a day──► .0.gz .1.gz .meta.gz .index ──age, size──► gone
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compressFile, GZIP } from '../archive-store/compress.ts'
import { type ArchiveFile, archiveFilesIn, byArchive, removeArchive } from '../archive-store/files.ts'
import { recover } from '../archive-store/transaction.ts'
import { PcpError } from '../model/errors.ts'
import { removeRollups, rollupBytes } from '../series/columns/places.ts'

/** An archive with all its files. */
export interface StoredArchive {
  /** Base name. */
  readonly name: string
  readonly files: readonly ArchiveFile[]
  /** Of all files, with its rollups. */
  readonly bytes: number
  /** Time of the last write, in milliseconds since the epoch. */
  readonly lastMs: number
}

/** Retention policy. */
export interface RetentionPolicy {
  /** Compress archives not written to for this long. */
  readonly compressAfterMs: number
  /** Remove archives not written to for this long. */
  readonly keepMs: number
  /** Total size limit; the oldest archives are removed first. */
  readonly keepBytes: number
}

/** Options of `tidyArchives`. */
export interface TidyOptions {
  readonly nowMs: number
  /** Names the archive being written, which counts but is left alone. */
  readonly inUse: () => string | undefined
  readonly signal: AbortSignal
}

/** Result of tidying. */
export interface TidyResult {
  /** Names of archives. */
  readonly compressed: readonly string[]
  readonly removed: readonly string[]
  /** Failures, one sentence each. */
  readonly problems: readonly string[]
}

/** Names that the recorder gives; all other files are left alone. */
const OURS = /^\d{8}\.\d\d\.\d\d(?:-\d\d)?$/
/** Returns the archives in a directory, oldest first; empty for a missing directory. Throws Node's error. */
export function storedArchives(dir: string): StoredArchive[] {
  if (!existsSync(dir)) return []
  const ours = archiveFilesIn(dir).filter(({ base }) => OURS.test(base))
  const archives = [...byArchive(ours)].map(([name, files]) => ({
    name,
    files,
    bytes: files.reduce((sum, { stats }) => sum + stats.size, rollupBytes(join(dir, name))),
    lastMs: Math.max(...files.map(({ stats }) => stats.mtimeMs)),
  }))
  return archives.sort((a, b) => a.lastMs - b.lastMs || (a.name < b.name ? -1 : 1))
}

/** Returns the size of all archives in a directory. */
export function storedBytes(archives: readonly StoredArchive[]): number {
  return archives.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * Removes archives that are too old, compresses those old enough, then removes the oldest until the size limit is met.
 * Failures are reported and do not stop the rest.
 */
export async function tidyArchives(
  dir: string,
  policy: RetentionPolicy,
  { nowMs, inUse, signal }: TidyOptions,
): Promise<TidyResult> {
  const compressed: string[] = []
  const removed: string[] = []
  const problems: string[] = []
  const remove = (archive: StoredArchive): boolean => {
    const problem = removeStored(dir, archive)
    if (problem === undefined) removed.push(archive.name)
    else problems.push(problem)
    return problem === undefined
  }
  try {
    await recover(dir)
  } catch (error) {
    problems.push(PcpError.from(error, `Cannot complete earlier work in ${dir}`).message)
  }
  try {
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

/** Removes an archive and its rollups; returns an error message or undefined. */
function removeStored(dir: string, { name, files }: StoredArchive): string | undefined {
  try {
    removeArchive(dir, files)
    removeRollups(join(dir, name))
    return undefined
  } catch (error) {
    return `Cannot remove the archive ${join(dir, name)}: ${PcpError.from(error).text}`
  }
}

/** Compresses the archive's uncompressed files except the small index; returns whether there were any. */
async function compressArchive(
  dir: string,
  { files }: StoredArchive,
  signal: AbortSignal,
  problems: string[],
): Promise<boolean> {
  let hasDone = false
  for (const file of files) {
    if (file.suffix !== '' || file.part === 'index') continue
    try {
      await compressFile(join(dir, file.name), GZIP, { signal })
      hasDone = true
    } catch (error) {
      if (signal.aborted) return hasDone
      problems.push(`Cannot compress ${join(dir, file.name)}: ${PcpError.from(error).text}`)
    }
  }
  return hasDone
}
