/** Reads the counts of fetches in recorded archives, of which each may appear once. */
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { Archive } from '../../../src/archive/archive.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { indom, pmid } from '../../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { extract } from '../../../src/model/value-set.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'

const NUMFETCH = pmid(253, 0, 0)
const DYNAMIC = indom(29, 7)
const PMLOGCHECK = '/usr/bin/pmlogcheck'

/** What an archive has. */
export interface ReadCounts {
  readonly counts: readonly number[]
  /** Changes of instances. */
  readonly snapshots: number
  readonly problems: readonly string[]
}

/** Reads an archive, and has PCP's pmlogcheck read it if there is one. */
export function readCounts(path: string): ReadCounts {
  const counts: number[] = []
  const problems: string[] = []
  // Killed before the first record was complete: nothing to read yet.
  if ((statSync(`${path}.0`, { throwIfNoEntry: false })?.size ?? 0) === 0)
    return { counts, snapshots: 0, problems }
  let archive: Archive
  try {
    archive = Archive.open(path, archiveFiles(), { onWarning: ({ message }) => problems.push(message) })
  } catch (error) {
    const { code, message } = PcpError.from(error)
    if (code !== 'PM_ERR_NODATA') problems.push(message)
    return { counts, snapshots: 0, problems }
  }
  let snapshots: number
  try {
    const reader = new RecordReader(archive)
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      const set = record.toResult().sets.find((candidate) => candidate.pmid === NUMFETCH)
      if (set?.status === 1) counts.push(Number(extract(set, 0, PM_TYPE_U32)))
    }
    snapshots = archive.metadata.snapshots(DYNAMIC).length
  } finally {
    archive.close()
  }
  if (existsSync(PMLOGCHECK)) {
    const { stdout, stderr, status } = spawnSync(PMLOGCHECK, [path], { encoding: 'utf8' })
    // A volume that was just started is reported, which is acceptable.
    const lines = (stdout + stderr)
      .split('\n')
      .filter((line) => line !== '' && !/contains no PCP data$/.test(line))
    if (status !== 0 || lines.length > 0) problems.push(`pmlogcheck: ${status} ${lines.join('; ')}`)
  }
  return { counts, snapshots, problems }
}

/** Returns the problems in the counts of all archives. */
export function problemsOfCounts(counts: readonly number[], maxLost: number): string[] {
  const problems: string[] = []
  const sorted = [...counts].sort((a, b) => a - b)
  const twice = sorted.filter((count, i) => count === sorted[i - 1])
  if (twice.length > 0) problems.push(`${twice.length} records twice: ${twice.slice(0, 5).join(', ')}`)
  const lost = sorted.at(-1)! - sorted[0]! + 1 - new Set(sorted).size
  if (lost > maxLost) problems.push(`${lost} records lost by kills of at most ${maxLost} recorders`)
  return problems
}
