/** The archives of PCP's own tests, and the share of them that a run looks at. */
import { existsSync, readdirSync } from 'node:fs'
import { parseFileName } from '../../../src/archive/file-names.ts'

const SUITE = '/var/lib/pcp/testsuite'

/** Folders with archives: good ones and damaged ones. */
export const FOLDERS = ['archives', 'badarchives'] as const

/** Are they installed? */
export const hasSuite: boolean = existsSync(`${SUITE}/archives`)

/** Path of a folder. */
export function suiteFolder(folder: (typeof FOLDERS)[number]): string {
  return `${SUITE}/${folder}`
}

/**
 * Names without `.meta` and so on of the archives of a folder. All of them with ARCHIVES=all in the environment, those with a name from a
 * list with commas there, otherwise every `every`th from `first` on: shares that start elsewhere have other archives.
 */
export function archivesOf(folder: (typeof FOLDERS)[number], every: number, first: number): string[] {
  const files = hasSuite ? readdirSync(suiteFolder(folder)) : []
  const names = [...new Set(files.flatMap((file) => parseFileName(file)?.base ?? []))].sort()
  const wanted = process.env['ARCHIVES']
  if (wanted === 'all') return names
  if (wanted !== undefined) return names.filter((name) => wanted.split(',').includes(name))
  return names.filter((_, i) => i % every === first % every)
}
