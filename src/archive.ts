/** Archives: `pcp-ts/archive`. docs/reference/archive-library.md */
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { ArchiveImport, type ImportOptions } from './archive/import/archive-import.ts'
import { archiveAccess } from './sys/archive-access.ts'
import { archiveOutput } from './sys/archive-output.ts'
import { loadConfig } from './sys/config.ts'

export * from './archive-browser.ts'
export { type ArchiveContext, type OpenArchiveOptions, openArchive } from './pmapi/archive.ts'
export type { ArchiveControl, ArchiveRange, SampleRange } from './pmapi/archive-control.ts'
export { archiveFiles } from './sys/archive-files.ts'
export { type ArchiveOutputOptions, archiveOutput } from './sys/archive-output.ts'

/** Label and options of an archive; the defaults are this host, UTC and this process. */
export type CreateOptions = Partial<ImportOptions>

/**
 * Creates an archive for data of a program. Its first record makes the files BASE.meta, BASE.index and BASE.0, and throws EEXIST
 * if there is an archive of that name.
 */
export function createArchive(base: string, options: CreateOptions = {}): ArchiveImport {
  return new ArchiveImport(
    archiveOutput(base, archiveAccess(dirname(base), loadConfig(process.env).variables)),
    {
      hostname: hostname(),
      timezone: 'UTC',
      pid: process.pid,
      ...options,
    },
  )
}
