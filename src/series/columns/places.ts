/** Where rollups are, and of which archive they were made. docs/formats/rollups.md */
import { createHash } from 'node:crypto'
import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Directory of rollups, beside the archives. */
export const ROLLUPS = 'rollups'

/** Length of a step of rollups in seconds, and the end of its file's name. */
export interface RollupStep {
  readonly seconds: number
  readonly suffix: string
}

export const MINUTE: RollupStep = { seconds: 60, suffix: '.1min.parquet' }
export const HOUR: RollupStep = { seconds: 3600, suffix: '.1hour.parquet' }
const COLUMNS_SUFFIX = '.columns'
const SUFFIXES = [COLUMNS_SUFFIX, MINUTE.suffix, HOUR.suffix]

/** Returns the path of an archive's columns file. */
export function columnsPath(base: string): string {
  return pathOf(base, COLUMNS_SUFFIX)
}

/** Returns the path of an archive's rollups. */
export function rollupPath(base: string, { suffix }: RollupStep): string {
  return pathOf(base, suffix)
}

/** Returns the base name of the archive of a file of rollups; undefined for other names. */
export function archiveOfRollup(name: string): string | undefined {
  const suffix = SUFFIXES.find((end) => name.endsWith(end))
  return suffix === undefined ? undefined : name.slice(0, -suffix.length)
}

/** Returns the size of an archive's rollups. Errors of the file system. */
export function rollupBytes(base: string): number {
  return SUFFIXES.map(
    (suffix) => lstatSync(pathOf(base, suffix), { throwIfNoEntry: false })?.size ?? 0,
  ).reduce((sum, size) => sum + size, 0)
}

/** Removes an archive's rollups. Errors of the file system. */
export function removeRollups(base: string): void {
  for (const suffix of SUFFIXES) rmSync(pathOf(base, suffix), { force: true })
}

/** Returns 20 bytes that identify the content of an archive; `content` as in `ArchivePlace`. */
export function contentStamp(content: string): Uint8Array {
  return createHash('sha1').update(content).digest()
}

function pathOf(base: string, suffix: string): string {
  return join(dirname(base), ROLLUPS, `${basename(base)}${suffix}`)
}
