/** Creates or updates a file of groups, for pmlogconf and pmrepconf. pmlogconf(1), pmrepconf(1) */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig } from '../../sys/config.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { ctime } from '../../time/stamp.ts'
import { strftime } from '../../time/strftime.ts'
import { openContext } from '../lib/source.ts'
import type { StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import { processTimeZone } from '../lib/zone.ts'
import type { Entry } from './config-file.ts'
import { contextDiff } from './context-diff.ts'
import { Prompts } from './dialogue.ts'
import { readGroups } from './group-sources.ts'
import { update } from './update.ts'

/** Common parts of group-based files. */
export interface GroupFile {
  /** Directory of the group files. */
  readonly groupDir: string | undefined
  readonly entries: readonly Entry[]
}

/** A kind of group-based file. */
export interface FileKind<C extends GroupFile> {
  /** A new file. */
  readonly empty: C
  isOne(text: string): boolean
  parse(text: string): C
  text(config: C): string
  /** Adds a line with the time of creation. */
  marked(config: C, time: string): C
}

/** Options of `makeFile`. */
export interface MakeOptions<C extends GroupFile> {
  readonly file: string
  /** Directory of the group files, if given. */
  readonly dir: string | undefined
  readonly asksIntervals: boolean
  readonly has: (letter: 'c' | 'r' | 'v') => boolean
  /** Prints warnings before the first prompt. */
  readonly warn?: (old: C, groupDir: string) => void
  /** Applies further changes. */
  readonly change?: (config: C) => C
}

/** Returns the default directory of group files. */
export function defaultGroupDir(io: ToolIo): string {
  return join(loadConfig(io.env).variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmlogconf')
}

/** Disables the user's derived metrics: they would slow down the probes and do not belong in a collector's configuration. */
export function withoutDerived(io: ToolIo): ToolIo {
  return { ...io, env: { ...io.env, PCP_DERIVED_CONFIG: '' } }
}

/** Creates or updates the file; resolves to the exit status. Throws PM_ERR_GENERIC for a file of another origin. */
export async function makeFile<C extends GroupFile>(
  kind: FileKind<C>,
  { file, dir, asksIntervals, has, warn, change = (config) => config }: MakeOptions<C>,
  standard: StandardOptions,
  io: ToolIo,
): Promise<number> {
  const path = resolve(io.cwd, file)
  const before = existsSync(path) ? decodeText(readFileSync(path)) : ''
  const isNew = before.trim() === ''
  if (!isNew && !kind.isOne(before))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${file} was not made by ${io.progname}: give the name of another file`,
    )
  const old = isNew ? kind.empty : kind.parse(before)
  const groupDir = dir ?? defaultGroupDir(io)
  const groups = readGroups(groupDir, dir !== undefined, io.cwd)
  for (const problem of groups.problems.values())
    io.stderr.write(`${io.progname}: Error: ${problem.message}\n`)
  warn?.(old, groupDir)
  const context = await openContext(standard, withoutDerived(io))
  try {
    if (isNew) io.stdout.write(`Creating config file "${file}" using default settings ...\n`)
    const dialogue = isNew || has('c') ? undefined : new Prompts(io, asksIntervals)
    const manner = {
      dialogue,
      reprobes: has('r'),
      drops: has('c'),
      isVerbose: has('v'),
      showsProgress: !has('c'),
    }
    const entries = await update(old.entries, groups, context, manner, io)
    io.stdout.write('\n')
    const next = change({ ...old, groupDir, entries })
    if (!isNew && kind.text(next) === before) {
      io.stdout.write('No changes\n')
      return 0
    }
    const now = { sec: Math.floor(io.now() / 1000), zone: processTimeZone(io) }
    const text = kind.text(has('c') ? kind.marked(next, ctime(now.sec, now.zone)) : next)
    if (dialogue !== undefined) {
      const stamp = strftime('%Y-%m-%d %H:%M:%S %z', now.sec, now.zone)
      io.stdout.write('Differences ...\n')
      io.stdout.write(contextDiff(before, text, [`${file}\t${stamp}`, `${file}.new\t${stamp}`]))
      if (!(await dialogue.confirmSave())) return 0
    }
    replaceFile(path, text)
    return 0
  } finally {
    await context.close()
  }
}
