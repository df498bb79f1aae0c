/**
 * pmlogconf: configurations of pmlogger from groups of metrics. pmlogconf(1)
 *
 * Unlike PCP's it does not replace a file that it did not make, and an empty answer about an interval keeps the interval.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig } from '../../sys/config.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { ctime } from '../../time/stamp.ts'
import { strftime } from '../../time/strftime.ts'
import {
  endEarly,
  type GivenOption,
  HELP_ROW,
  type OptionTable,
  usageText,
  VERSION_ROW,
} from '../lib/options.ts'
import { openContext } from '../lib/source.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { ownZone } from '../lib/zone.ts'
import {
  type Config,
  configText,
  entryHead,
  isConfig,
  marked,
  NEW_CONFIG,
  parseConfig,
} from './config-file.ts'
import { contextDiff } from './context-diff.ts'
import { Dialogue } from './dialogue.ts'
import { readGroup, readGroups } from './group-sources.ts'
import { probeGroup } from './probe.ts'
import { CHOICES, probeText, update } from './update.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] configfile',
  rows: [
    STANDARD.host,
    { short: 'c', help: 'note when the file was made, and ask nothing' },
    { short: 'g', long: 'group', arg: 'TAG', kind: 'none', help: 'show what the file says of this group' },
    { short: 'd', long: 'groups', arg: 'DIR', help: 'take the groups from the files below DIR' },
    { short: 'q', long: 'quiet', help: 'ask no intervals' },
    { short: 'r', long: 'reprobe', help: 'decide about all groups afresh' },
    { short: 's', long: 'setup', arg: 'FILE', help: 'show what would become of the group in FILE' },
    { short: 'v', long: 'verbose', help: 'say how it was decided about each group' },
    STANDARD.debug,
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Writes configurations of pmlogger, and keeps them up to date. */
export const tool: Tool = {
  name: 'pmlogconf',
  summary: 'Make a configuration of pmlogger from groups of metrics',
  description: `
Groups are sets of metrics that are recorded together. A file describes each: what it is, how often to record it, a question
to the collector that decides whether it is worth it, and its metrics. Those of PCP are below PCP_VAR_DIR/config/pmlogconf; where
there are none, this command has groups of its own for all that the agents linux and proc know.

A configuration that is not there yet, or is empty, is made as the collector's answers suggest. Otherwise it is asked about each
group: y records it, n does not, m lists its metrics, /TEXT goes on with the next group that has TEXT, q ends the questions.
What stands below the line that says so is never changed. Files made by PCP's command and by this one are the same.`,
  examples: [
    ['pmlogconf -c -q config.default', 'A configuration for the collector on this host:'],
    ['pmlogconf -r -h db1 config.db1', 'Ask about all groups again, as far as db1 has them:'],
  ],
  seeAlso: ['pmlogger', 'pmieconf'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, standard } = parsed
    const has = (letter: string): boolean => given.some(({ name }) => name === letter)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const setup = last(given, 's')
    if (setup !== undefined) return showSetup(setup, standard, has('v'), io)
    const [file] = operands
    if (file === undefined || operands.length > 1) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const dir = last(given, 'd')
    const groupDir = dir ?? defaultDir(io)
    const tag = last(given, 'g')
    if (tag !== undefined) return showGroup(tag, file, groupDir, dir !== undefined, io)
    return make({ file, groupDir, isDirGiven: dir !== undefined, has }, standard, io)
  },
}

function last(given: readonly GivenOption[], letter: string): string | undefined {
  return given.findLast(({ name }) => name === letter)?.value
}

function defaultDir(io: ToolIo): string {
  return join(loadConfig(io.env).variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmlogconf')
}

/** What is asked for. */
interface Job {
  readonly file: string
  readonly groupDir: string
  readonly isDirGiven: boolean
  readonly has: (letter: string) => boolean
}

async function make(
  { file, groupDir, isDirGiven, has }: Job,
  standard: StandardOptions,
  io: ToolIo,
): Promise<number> {
  const path = resolve(io.cwd, file)
  const before = existsSync(path) ? decodeText(readFileSync(path)) : ''
  const isNew = before.trim() === ''
  if (!isNew && !isConfig(before))
    throw new PcpError('PM_ERR_GENERIC', `${file} was not made by pmlogconf: give the name of another file`)
  const old = isNew ? NEW_CONFIG : parseConfig(before)
  const groups = readGroups(groupDir, isDirGiven, io.cwd)
  for (const problem of groups.problems.values())
    io.stderr.write(`${io.progname}: Error: ${problem.message}\n`)
  if (old.groupDir !== undefined && old.groupDir !== groupDir)
    io.stderr.write(
      `${io.progname}: Warning: groups are taken from ${groupDir}, those in ${file} were from ${old.groupDir}\n`,
    )
  const context = await openContext(standard, withoutDerived(io))
  try {
    if (isNew) io.stdout.write(`Creating config file "${file}" using default settings ...\n`)
    const dialogue = isNew || has('c') ? undefined : new Dialogue(io, !has('q'))
    const entries = await update(
      old.entries,
      groups,
      context,
      {
        dialogue,
        reprobes: has('r'),
        drops: has('c'),
        isVerbose: has('v'),
        showsProgress: !has('c'),
      },
      io,
    )
    io.stdout.write('\n')
    const next: Config = { ...old, groupDir, entries }
    return await save({ path, file, before, isNew, marks: has('c') }, next, dialogue, io)
  } finally {
    await context.close()
  }
}

/** What is to be written where. */
interface Saving {
  readonly path: string
  readonly file: string
  readonly before: string
  readonly isNew: boolean
  /** The file says when it was made. */
  readonly marks: boolean
}

async function save(
  { path, file, before, isNew, marks }: Saving,
  next: Config,
  dialogue: Dialogue | undefined,
  io: ToolIo,
): Promise<number> {
  const zone = ownZone(io)
  const sec = Math.floor(io.now() / 1000)
  if (!isNew && configText(next) === before) {
    io.stdout.write('No changes\n')
    return 0
  }
  const text = configText(marks ? marked(next, ctime(sec, zone)) : next)
  if (dialogue !== undefined) {
    const stamp = strftime('%Y-%m-%d %H:%M:%S %z', sec, zone)
    io.stdout.write('Differences ...\n')
    io.stdout.write(contextDiff(before, text, [`${file}\t${stamp}`, `${file}.new\t${stamp}`]))
    if (!(await dialogue.keeps())) return 0
  }
  replaceFile(path, text)
  return 0
}

/** Derived metrics of the user's are no business of a collector's configuration. */
function withoutDerived(io: ToolIo): ToolIo {
  return { ...io, env: { ...io.env, PCP_DERIVED_CONFIG: '' } }
}

async function showSetup(
  file: string,
  standard: StandardOptions,
  isVerbose: boolean,
  io: ToolIo,
): Promise<number> {
  const group = readGroup(file, io.cwd)
  const context = await openContext(standard, withoutDerived(io))
  try {
    const probed = await probeGroup(group, context)
    const below = relative(defaultDir(io), resolve(io.cwd, file))
    const tag = below.startsWith('..') ? `/${file}`.replace(/^\/+/, '/') : below
    if (isVerbose) io.stdout.write(`${tag}:\n${probeText(group, probed)}`)
    io.stdout.write(`${entryHead({ tag, choice: CHOICES[probed.state], delta: group.delta })}\n`)
    return 0
  } finally {
    await context.close()
  }
}

/** What the file says of a group, with the interval of its group file; nothing where it says nothing. */
function showGroup(tag: string, file: string, dir: string, isDirGiven: boolean, io: ToolIo): number {
  const { entries } = parseConfig(decodeText(readConfigBytes(file, io)))
  const entry = entries.find((each) => each.tag === tag)
  if (entry === undefined) return 0
  const group = readGroups(dir, isDirGiven, io.cwd).groups.get(tag)
  io.stdout.write(
    `${entryHead({ tag: `${dir}/${tag}`, choice: entry.choice, delta: group?.delta ?? 'default' })}\n`,
  )
  return 0
}

function readConfigBytes(file: string, io: ToolIo): Uint8Array {
  try {
    return readFileSync(resolve(io.cwd, file))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `Cannot open ${file}: ${text}`, { cause: error })
  }
}
