/**
 * pmrepconf: configurations of pmrep from groups of metrics. pmrepconf(1)
 *
 * Groups, probes and questions are those of pmlogconf; intervals mean nothing here. Unlike PCP's it does not replace a file that it
 * did not make.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig } from '../../sys/config.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { ctime } from '../../time/stamp.ts'
import { strftime } from '../../time/strftime.ts'
import { endEarly, HELP_ROW, type OptionTable, usageText, VERSION_ROW } from '../lib/options.ts'
import { openContext } from '../lib/source.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { ownZone } from '../lib/zone.ts'
import { contextDiff } from './context-diff.ts'
import { Dialogue } from './dialogue.ts'
import { readGroups } from './group-sources.ts'
import {
  isRepConfig,
  NEW_REP_CONFIG,
  parseRepConfig,
  type RepConfig,
  repConfigMade,
  repConfigText,
  repEntryHead,
  withOptions,
} from './rep-file.ts'
import { update } from './update.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] configfile',
  rows: [
    STANDARD.host,
    { short: 'c', help: 'note when the file was made, and ask nothing' },
    { short: 'g', long: 'group', arg: 'TAG', help: 'show what the file says of this group' },
    { short: 'd', long: 'groups', arg: 'DIR', help: 'take the groups from the files below DIR' },
    { short: 'o', long: 'option', arg: 'KEY=VALUE', help: 'put an option of pmrep into the file' },
    { short: 'r', long: 'reprobe', help: 'decide about all groups afresh' },
    { short: 'v', long: 'verbose', help: 'say how it was decided about each group' },
    STANDARD.debug,
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Writes configurations of pmrep, and keeps them up to date. */
export const tool: Tool = {
  name: 'pmrepconf',
  summary: 'Make a configuration of pmrep from groups of metrics',
  description: `
Writes a set of metrics named metrics for pmrep and the exporters: those of the groups that the collector's answers suggest. Groups
are those of pmlogconf. A configuration that is there already is asked about, group by group: y shows it, n does not, m lists its
metrics, /TEXT goes on with the next group that has TEXT, q ends the questions. What stands below the line that says so is never
changed.`,
  examples: [
    ['pmrepconf -c my.conf', 'A configuration for the collector on this host:'],
    ['pmrep -c my.conf :metrics', 'What it shows:'],
  ],
  seeAlso: ['pmrep', 'pmlogconf'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, standard } = parsed
    const all = (letter: string): string[] =>
      given.filter(({ name, option }) => name === letter || option.short === letter).map(({ value }) => value)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [file] = operands
    if (file === undefined || operands.length > 1) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const options = all('o')
    const wrong = options.find((option) => !/^\w+\s*=\s*\S/.test(option))
    if (wrong !== undefined)
      throw new PcpError('PM_ERR_GENERIC', `-o ${wrong} is no option of pmrep: write KEY=VALUE`)
    const tag = all('g').at(-1)
    if (tag !== undefined) return showGroup(tag, file, io)
    const [dir] = all('d').slice(-1)
    const has = (letter: string): boolean => all(letter).length > 0
    return make({ file, dir, options, has }, standard, io)
  },
}

/** What is asked for. */
interface Job {
  readonly file: string
  readonly dir: string | undefined
  readonly options: readonly string[]
  readonly has: (letter: string) => boolean
}

async function make(
  { file, dir, options, has }: Job,
  standard: StandardOptions,
  io: ToolIo,
): Promise<number> {
  const path = resolve(io.cwd, file)
  const before = existsSync(path) ? decodeText(readFileSync(path)) : ''
  const isNew = before.trim() === ''
  if (!isNew && !isRepConfig(before))
    throw new PcpError('PM_ERR_GENERIC', `${file} was not made by pmrepconf: give the name of another file`)
  const old = isNew ? NEW_REP_CONFIG : parseRepConfig(before)
  const groupDir =
    dir ?? join(loadConfig(io.env).variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmlogconf')
  const groups = readGroups(groupDir, dir !== undefined, io.cwd)
  for (const problem of groups.problems.values())
    io.stderr.write(`${io.progname}: Error: ${problem.message}\n`)
  // Derived metrics of the user's take long to probe, and are no business of the file.
  const context = await openContext(standard, { ...io, env: { ...io.env, PCP_DERIVED_CONFIG: '' } })
  try {
    if (isNew) io.stdout.write(`Creating config file "${file}" using default settings ...\n`)
    const dialogue = isNew || has('c') ? undefined : new Dialogue(io, false)
    const manner = {
      dialogue,
      reprobes: has('r'),
      drops: has('c'),
      isVerbose: has('v'),
      showsProgress: !has('c'),
    }
    const entries = await update(old.entries, groups, context, manner, io)
    io.stdout.write('\n')
    const next = withOptions({ ...old, groupDir, entries }, options)
    return await save({ path, file, before, marks: has('c') }, next, dialogue, io)
  } finally {
    await context.close()
  }
}

/** What is to be written where. */
interface Saving {
  readonly path: string
  readonly file: string
  readonly before: string
  /** The file says when it was made. */
  readonly marks: boolean
}

async function save(
  { path, file, before, marks }: Saving,
  next: RepConfig,
  dialogue: Dialogue | undefined,
  io: ToolIo,
): Promise<number> {
  if (repConfigText(next) === before) {
    io.stdout.write('No changes\n')
    return 0
  }
  const zone = ownZone(io)
  const sec = Math.floor(io.now() / 1000)
  const text = repConfigText(marks ? repConfigMade(next, ctime(sec, zone)) : next)
  if (dialogue !== undefined) {
    const stamp = strftime('%Y-%m-%d %H:%M:%S %z', sec, zone)
    io.stdout.write('Differences ...\n')
    io.stdout.write(contextDiff(before, text, [`${file}\t${stamp}`, `${file}.new\t${stamp}`]))
    if (!(await dialogue.keeps())) return 0
  }
  replaceFile(path, text)
  return 0
}

/** What the file says of a group; nothing where it says nothing. */
function showGroup(tag: string, file: string, io: ToolIo): number {
  let text: string
  try {
    text = decodeText(readFileSync(resolve(io.cwd, file)))
  } catch (error) {
    const known = PcpError.from(error)
    throw new PcpError(known.code, `Cannot open ${file}: ${known.text}`, { cause: error })
  }
  const entry = parseRepConfig(text).entries.find((each) => each.tag === tag)
  if (entry !== undefined) io.stdout.write(`${repEntryHead(entry)}\n`)
  return 0
}
