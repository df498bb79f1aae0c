/** The archives that tools for series read. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { ArchiveSeries } from '../../series/archives/store.ts'
import type { SeriesStore } from '../../series/store.ts'
import { instanceDirs, loadConfig } from '../../sys/config.ts'
import { instancesIn } from '../../sys/instances.ts'
import type { ParsedOptions } from './options.ts'
import type { ToolIo } from './tool.ts'

/** Returns the directories of --directory; without it, those of loggers and running instances here. ENOENT for a missing one. */
export function archiveDirectories({ given }: ParsedOptions, io: ToolIo): readonly string[] {
  const named = given.filter(({ name }) => name === 'directory').map(({ value }) => resolve(io.cwd, value))
  const directories = named.length > 0 ? named : recordedOrDefault(io)
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

/** Returns the directories in which the loggers of this host and of running instances have put archives. */
export function recordedHere(io: ToolIo): readonly string[] {
  const recorded = instancesIn(instanceDirs(io.env)).flatMap(({ record }) => record.archiveDir ?? [])
  return [...recorded, loggerDirectory(io)].filter((directory) => existsSync(directory))
}

function recordedOrDefault(io: ToolIo): readonly string[] {
  const present = recordedHere(io)
  return present.length > 0 ? present : [loggerDirectory(io)]
}

const loggerDirectory = (io: ToolIo): string => loadConfig(io.env).variables['PCP_ARCHIVE_DIR']!
