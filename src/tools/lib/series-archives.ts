/** The archives that tools for series read. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { ArchiveSeries } from '../../series/archives/store.ts'
import type { SeriesStore } from '../../series/store.ts'
import { loadConfig } from '../../sys/config.ts'
import { instancesIn, runDirs } from '../../sys/instances.ts'
import type { ParsedOptions } from './options.ts'
import type { ToolIo } from './tool.ts'

/** Returns the directories of --directory; without it, those of loggers and running instances here. ENOENT for a missing one. */
export function archiveDirectories({ given }: ParsedOptions, io: ToolIo): readonly string[] {
  const named = given.filter(({ name }) => name === 'directory').map(({ value }) => resolve(io.cwd, value))
  const directories = named.length > 0 ? named : recordedHere(io)
  for (const each of directories)
    if (!existsSync(each))
      throw new PcpError(
        'ENOENT',
        `${each}: No such file or directory; name a directory of archives with --directory`,
      )
  return directories
}

/** Opens the series of archives; unreadable ones are left out with a warning. */
export function openArchives(directories: readonly string[], io: ToolIo): SeriesStore {
  const { XDG_CACHE_HOME, HOME } = io.env
  const cache = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : undefined)
  return new ArchiveSeries(directories, {
    onWarning: ({ message }) => io.stderr.write(`${io.progname}: Warning: ${message}\n`),
    keepsCatalogue: true,
    cacheDir: cache?.startsWith('/') ? join(cache, 'pcp-ts') : undefined,
  })
}

/** Returns where the loggers of this host and of running instances put their archives. */
function recordedHere(io: ToolIo): readonly string[] {
  const { variables } = loadConfig(io.env)
  const all = [
    ...instancesIn(runDirs(variables)).flatMap(({ record }) => record.archiveDir ?? []),
    variables['PCP_ARCHIVE_DIR']!,
  ]
  const present = all.filter((directory) => existsSync(directory))
  return present.length > 0 ? present : all.slice(-1)
}
