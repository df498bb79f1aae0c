/** Makes a file of groups, or brings it up to date: what pmlogconf and pmrepconf have in common. pmlogconf(1), pmrepconf(1) */
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
import { ownZone } from '../lib/zone.ts'
import type { Entry } from './config-file.ts'
import { contextDiff } from './context-diff.ts'
import { Dialogue } from './dialogue.ts'
import { readGroups } from './group-sources.ts'
import { update } from './update.ts'

/** What a file of groups has, whatever it is for. */
export interface GroupFile {
  /** Where the group files were. */
  readonly groupDir: string | undefined
  readonly entries: readonly Entry[]
}

/** A kind of such files. */
export interface FileKind<C extends GroupFile> {
  /** What a new one has. */
  readonly empty: C
  isOne(text: string): boolean
  parse(text: string): C
  text(config: C): string
  /** With a line that says when it was made. */
  marked(config: C, time: string): C
}

/** What is asked for. */
export interface Job<C extends GroupFile> {
  readonly file: string
  /** Where the group files are, when that is given. */
  readonly dir: string | undefined
  readonly asksIntervals: boolean
  readonly has: (letter: 'c' | 'r' | 'v') => boolean
  /** Says what is to be known before groups are asked about. */
  readonly warn?: (old: C, groupDir: string) => void
  /** What else is to be changed. */
  readonly change?: (config: C) => C
}

/** Where group files are by default. */
export function defaultGroupDir(io: ToolIo): string {
  return join(loadConfig(io.env).variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmlogconf')
}

/** Derived metrics of the user's take long to probe, and are no business of a collector's configuration. */
export function withoutDerived(io: ToolIo): ToolIo {
  return { ...io, env: { ...io.env, PCP_DERIVED_CONFIG: '' } }
}

/** Makes or updates the file; the status to end with. PM_ERR_GENERIC for a file that somebody else made. */
export async function makeFile<C extends GroupFile>(
  kind: FileKind<C>,
  { file, dir, asksIntervals, has, warn, change = (config) => config }: Job<C>,
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
    const dialogue = isNew || has('c') ? undefined : new Dialogue(io, asksIntervals)
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
    const now = { sec: Math.floor(io.now() / 1000), zone: ownZone(io) }
    const text = kind.text(has('c') ? kind.marked(next, ctime(now.sec, now.zone)) : next)
    if (dialogue !== undefined) {
      const stamp = strftime('%Y-%m-%d %H:%M:%S %z', now.sec, now.zone)
      io.stdout.write('Differences ...\n')
      io.stdout.write(contextDiff(before, text, [`${file}\t${stamp}`, `${file}.new\t${stamp}`]))
      if (!(await dialogue.keeps())) return 0
    }
    replaceFile(path, text)
    return 0
  } finally {
    await context.close()
  }
}
