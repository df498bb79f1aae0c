/** Files of archives for maintenance: by archive and part, compressed or not. */

import { readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseFileName } from '../archive/file-names.ts'
import { PcpError } from '../model/errors.ts'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import { type FileIdentity, identifyFile } from '../sys/staging.ts'
import { recover } from './transaction.ts'

/** A file of an archive. */
export interface ArchiveFile {
  readonly name: string
  readonly base: string
  /** `meta`, `index` or digits. */
  readonly part: string
  /** Compression suffix, or ''. */
  readonly suffix: string
  readonly stats: Stats
}

/** Lists the archive files in a directory, sorted by name. Throws Node's error. */
export function archiveFilesIn(dir: string): ArchiveFile[] {
  return readdirSync(dir)
    .sort()
    .flatMap((name) => {
      const parsed = parseFileName(name)
      if (parsed === undefined) return []
      const stats = statSync(join(dir, name), { throwIfNoEntry: false })
      return stats?.isFile() === true ? [{ name, ...parsed, stats }] : []
    })
}

/** Lists the files of one archive, by its path without suffixes, in the order of `byPart`; empty if the directory is missing. */
export function filesOfArchive(base: string): ArchiveFile[] {
  const dir = dirname(base)
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return archiveFilesIn(dir)
    .filter((file) => file.base === basename(base))
    .sort(byPart)
}

/**
 * Records the identity of the files of an archive that will be replaced, after completing interrupted transactions in its directory. Call
 * it before reading the archive, so that changes meanwhile are detected.
 */
export async function identifyArchive(base: string): Promise<FileIdentity[]> {
  const absolute = resolve(base)
  await recover(dirname(absolute))
  return filesOfArchive(absolute).flatMap(
    ({ name }) => identifyFile(nodeDisk, join(dirname(absolute), name)) ?? [],
  )
}

/** Groups files by archive, in order of first appearance. */
export function byArchive<T extends Pick<ArchiveFile, 'base'>>(files: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const file of files) {
    const group = groups.get(file.base)
    if (group === undefined) groups.set(file.base, [file])
    else group.push(file)
  }
  return groups
}

/** Compares files of an archive: volumes by number, then index and metadata. */
export function byPart(a: Pick<ArchiveFile, 'part'>, b: Pick<ArchiveFile, 'part'>): number {
  if (isVolume(a) && isVolume(b)) return Number(a.part) - Number(b.part)
  if (isVolume(a) !== isVolume(b)) return isVolume(a) ? -1 : 1
  return a.part < b.part ? -1 : 1
}

/** Returns whether a file is a data volume. */
export function isVolume({ part }: Pick<ArchiveFile, 'part'>): boolean {
  return /^\d+$/.test(part)
}

/**
 * Removes the files of one archive, the metadata first and durably, because an archive without it is invalid. Leftovers after a crash
 * have the same names and are removed by the next call. Throws PcpError with the errno.
 */
export function removeArchive(
  dir: string,
  files: readonly Pick<ArchiveFile, 'name' | 'part'>[],
  disk: Disk = nodeDisk,
): void {
  const meta = files.filter(({ part }) => part === 'meta')
  for (const group of [meta, files.filter((file) => !meta.includes(file))]) {
    for (const { name } of group) unlinkIfPresent(join(dir, name), disk)
    if (group.length > 0) syncDirectory(dir, disk)
  }
}

function syncDirectory(dir: string, disk: Disk): void {
  try {
    disk.syncDirectory(dir)
  } catch (error) {
    throw PcpError.from(error, `Cannot remove files of ${dir}`)
  }
}

function unlinkIfPresent(path: string, disk: Disk): void {
  try {
    disk.unlink(path)
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code !== 'ENOENT') throw PcpError.from(error, `Cannot remove ${path} of ${dirname(path)}`)
  }
}
