/** Archives of PCP's own tests, and the share that a run compares. */
import { existsSync, readdirSync } from 'node:fs'
import { Archive } from '../../../src/archive/archive.ts'
import { parseFileName } from '../../../src/archive/file-names.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../../../src/model/types.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { isSampled } from '../../lib/seed.ts'

const SUITE = '/var/lib/pcp/testsuite'

/** Folders with archives: good ones and damaged ones. */
export const FOLDERS = ['archives', 'badarchives'] as const

/** Whether they are installed. */
export const hasSuite: boolean = existsSync(`${SUITE}/archives`)

/** In every share, so that every run compares something. */
const ALWAYS = '20041125'

/** Returns the path of a folder. */
export function suiteFolder(folder: (typeof FOLDERS)[number]): string {
  return `${SUITE}/${folder}`
}

/**
 * Returns the base names of a folder's archives: those listed with commas in the environment variable ARCHIVES, otherwise one in `every`,
 * others each day (CONTRIBUTING.md: Random tests), and a fixed one. Shares with different `first` have different archives.
 */
export function archivesOf(folder: (typeof FOLDERS)[number], every: number, first: number): string[] {
  const files = hasSuite ? readdirSync(suiteFolder(folder)) : []
  const names = [...new Set(files.flatMap((file) => parseFileName(file)?.base ?? []))].sort()
  const wanted = process.env['ARCHIVES']
  if (wanted !== undefined) return names.filter((name) => wanted.split(',').includes(name))
  return names.filter((name, i) => name === ALWAYS || isSampled(i + first, every))
}

/** Returns whether an archive can be opened and has event metrics. */
export function hasEvents(base: string): boolean {
  return holds(base, ({ metadata }) =>
    [...metadata.descs.values()].some(({ type }) => type === PM_TYPE_EVENT || type === PM_TYPE_HIGHRES_EVENT),
  )
}

/** Returns whether an archive can be opened and begins with second 0. */
export function isOfTheEpoch(base: string): boolean {
  return holds(base, ({ start }) => start.sec === 0)
}

function holds(base: string, condition: (archive: Archive) => boolean): boolean {
  let archive: Archive
  try {
    archive = Archive.open(base, archiveFiles())
  } catch {
    return false
  }
  try {
    return condition(archive)
  } finally {
    archive.close()
  }
}
