/** Keeps rollups up to date: makes those that are missing or stale, and removes those of archives that are gone. docs/formats/rollups.md */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import { parseFileName } from '../../archive/file-names.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { replaceFileBy } from '../../sys/replace-file.ts'
import { ArchiveCatalogue } from '../archives/catalogue.ts'
import { catalogueOf } from '../archives/facts.ts'
import { type ArchivePlace, findArchives, placeAt } from '../archives/files.ts'
import { type CataloguePart, type MetricsPart, PartPool } from '../archives/parts.ts'
import { buildColumns } from './build.ts'
import { ColumnsFile } from './file.ts'
import { archiveOfRollup, columnsPath, contentStamp, HOUR, MINUTE, ROLLUPS, rollupPath } from './places.ts'

/** Archives that changed so recently, in milliseconds, may still be written to. */
const QUIET_MS = 600_000
/** Files of other processes that are older are leftovers. */
const LEFTOVER_MS = 86_400_000
/** Rollups of a minute are only made if it has so many samples, otherwise they would be larger than the values. */
const FEWEST_SAMPLES = 3

/** Options of `maintainRollups`. */
export interface MaintainOptions {
  /** Wall clock in milliseconds. */
  readonly nowMs: number
  readonly signal?: AbortSignal
  /** Archives that are left alone; default those that changed in the last ten minutes. */
  readonly isActive?: (base: string) => boolean
  /** Only columns files, which queries need; no Parquet for other programs. */
  readonly isColumnsOnly?: boolean
  readonly ignoresLinks?: boolean
}

/** What was done. */
export interface MaintainResult {
  /** Base paths of archives whose rollups were made. */
  readonly built: readonly string[]
  /** Paths of files that were removed. */
  readonly removed: readonly string[]
  /** Failures, one sentence each. */
  readonly problems: readonly string[]
}

/** Makes and removes rollups of the archives below directories. Failures are reported and do not stop the rest; an abort does. */
export async function maintainRollups(
  directories: readonly string[],
  { nowMs, signal, isActive, isColumnsOnly = false, ignoresLinks = false }: MaintainOptions,
): Promise<MaintainResult> {
  const built: string[] = []
  const problems: string[] = []
  let places: readonly ArchivePlace[]
  try {
    places = findArchives(directories, ignoresLinks)
  } catch (error) {
    return { built, removed: [], problems: [`Cannot find archives: ${PcpError.from(error).message}`] }
  }
  const inUse = places.map(({ base }) => dirname(base))
  const removed = [...new Set([...inUse, ...directories, ...directories.flatMap(directoriesIn)])].flatMap(
    (directory) => removeStray(directory, nowMs),
  )
  for (const place of places) {
    if (signal?.aborted === true) break
    const isQuiet = isActive === undefined ? nowMs - place.changedMs >= QUIET_MS : !isActive(place.base)
    if (!isQuiet || (isFresh(place) && (isColumnsOnly || existsSync(rollupPath(place.base, HOUR))))) continue
    try {
      await build(place, isColumnsOnly, signal)
      built.push(place.base)
    } catch (error) {
      const { code, text } = PcpError.from(error)
      if (code === 'EINTR') break
      problems.push(`Cannot make rollups of ${place.base}: ${text}`)
    }
  }
  return { built, removed, problems }
}

function isFresh({ base, content }: ArchivePlace): boolean {
  try {
    ColumnsFile.open(columnsPath(base), contentStamp(content))
    return true
  } catch {
    return false
  }
}

async function build(
  place: ArchivePlace,
  isColumnsOnly: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { base, content } = place
  const path = columnsPath(base)
  for (const step of [MINUTE, HOUR]) rmSync(rollupPath(base, step), { force: true })
  mkdirSync(dirname(path), { recursive: true })
  const { interval } = await buildColumns(base, content, path, { signal })
  if (placeAt(base)?.content !== content) {
    rmSync(path, { force: true })
    throw new PcpError('ESTALE', 'the archive was changed meanwhile')
  }
  if (isColumnsOnly) return
  const { writeRollups } = await import('./parquet.ts')
  const archive = Archive.open(base, archiveFiles())
  try {
    const catalogue = catalogueFor(archive, base)
    const facts = {
      'pcp.host': catalogue.host,
      'pcp.timezone': archive.label.timezone,
      'pcp.archive': Buffer.from(contentStamp(content)).toString('hex'),
    }
    const file = ColumnsFile.open(path, contentStamp(content))
    const isDense = interval > 0 && interval * FEWEST_SAMPLES <= MINUTE.seconds
    // That of hours is last: if it is there, everything is.
    for (const step of isDense ? [MINUTE, HOUR] : [HOUR])
      await replaceFileBy(rollupPath(base, step), (append) =>
        writeRollups(append, file, catalogue, step, facts),
      )
  } finally {
    archive.close()
  }
}

function catalogueFor(archive: Archive, base: string): ArchiveCatalogue {
  const pool = new PartPool()
  const part = pool.get<CataloguePart>(catalogueOf(archive, base, pool))
  pool.get<MetricsPart>(part.metrics)
  return new ArchiveCatalogue(part, pool, new Map(), { open: () => archive })
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(directory, name))
  } catch {
    return []
  }
}

/** Removes the rollups of archives that are gone, and leftovers; returns their paths. */
function removeStray(directory: string, nowMs: number): string[] {
  const rollups = join(directory, ROLLUPS)
  const removed: string[] = []
  try {
    const bases = new Set(readdirSync(directory).map((name) => parseFileName(name)?.base))
    for (const name of readdirSync(rollups)) {
      const archive = archiveOfRollup(name)
      const path = join(rollups, name)
      const isStray =
        archive === undefined
          ? name.endsWith('.new') && nowMs - statSync(path).mtimeMs > LEFTOVER_MS
          : !bases.has(archive)
      if (!isStray) continue
      rmSync(path, { force: true })
      removed.push(path)
    }
  } catch {
    // No rollups here, or a directory that cannot be written to.
  }
  return removed
}
