/** Values for arguments of command lines: the metrics, instances and times of an archive or a collector. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Archive } from '../../../../src/archive/archive.ts'
import { parseFileName } from '../../../../src/archive/file-names.ts'
import { isError } from '../../../../src/model/errors.ts'
import { PM_INDOM_NULL } from '../../../../src/model/ids.ts'
import { archiveFiles } from '../../../../src/sys/archive-files.ts'
import { suiteFolder } from '../suite.ts'

/** A metric with the properties that affect reports. */
export interface MetricFacts {
  readonly name: string
  /** A PM_TYPE_* number. */
  readonly type: number
  readonly instances: readonly string[]
}

/** A source of metrics. */
export interface SourceFacts {
  /** Name of an archive in the suite's folder, or a collector's HOST:PORT. */
  readonly name: string
  readonly metrics: readonly MetricFacts[]
  /** Seconds since the epoch. */
  readonly start: number
  readonly end: number
}

/** Working directory of command lines; names of archives are relative to it. */
export const ARCHIVES: string = suiteFolder('archives')

/** Limit of instances to choose from. */
const MAX_INSTANCES = 200
const known = new Map<string, SourceFacts | undefined>()

/** Returns the names of the suite's archives; in folders as FOLDER/NAME. */
export function archiveNames(): readonly string[] {
  if (!existsSync(ARCHIVES)) return []
  const names = new Set<string>()
  for (const entry of readdirSync(ARCHIVES, { recursive: true, encoding: 'utf8' })) {
    if (entry.includes('corrupt') || statSync(join(ARCHIVES, entry)).isDirectory()) continue
    const parsed = parseFileName(entry)
    if (parsed !== undefined) names.add(parsed.base)
  }
  return [...names].sort()
}

/** Returns the files of an archive as paths relative to the suite's folder. */
export function filesOf(name: string): readonly string[] {
  const slash = name.lastIndexOf('/') + 1
  const folder = name.slice(0, slash)
  const dir = join(ARCHIVES, folder)
  if (!existsSync(dir)) return []
  return readdirSync(dir)
    .map((file) => folder + file)
    .filter((file) => parseFileName(file)?.base === name)
}

/** Returns the total size of an archive's files. */
export function bytesOf(name: string): number {
  return filesOf(name).reduce((sum, file) => sum + statSync(join(ARCHIVES, file)).size, 0)
}

/** Returns the facts of an archive; undefined if it cannot be opened or has no record. */
export function archiveFacts(name: string): SourceFacts | undefined {
  if (!known.has(name)) known.set(name, read(name))
  return known.get(name)
}

function read(name: string): SourceFacts | undefined {
  let archive: Archive
  try {
    archive = Archive.open(join(ARCHIVES, name), archiveFiles(), { onWarning: () => {} })
  } catch {
    return undefined
  }
  try {
    const { metadata, start } = archive
    const end = archive.end()
    if (isError(end)) return undefined
    const metrics: MetricFacts[] = []
    for (const metric of [...metadata.traverse('')].sort()) {
      const id = metadata.lookup(metric)
      const desc = isError(id) ? undefined : metadata.descs.get(id)
      if (desc === undefined) continue
      const { names } =
        desc.indom === PM_INDOM_NULL ? { names: [] } : metadata.instances(desc.indom, undefined, undefined)
      metrics.push({ name: metric, type: desc.type, instances: names.slice(0, MAX_INSTANCES) })
    }
    if (metrics.length === 0) return undefined
    return { name, metrics, start: start.sec + start.nsec / 1e9, end: end.sec + end.nsec / 1e9 }
  } catch {
    return undefined
  } finally {
    archive.close()
  }
}
