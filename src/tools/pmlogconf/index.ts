/**
 * pmlogconf: configurations of pmlogger from groups of metrics. pmlogconf(1)
 *
 * Unlike PCP's it does not replace a file that it did not make, and an empty answer about an interval keeps the interval.
 */
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
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
import {
  type Config,
  configText,
  entryHead,
  isConfig,
  marked,
  NEW_CONFIG,
  parseConfig,
} from './config-file.ts'
import { readGroup, readGroups } from './group-sources.ts'
import { defaultGroupDir, type FileKind, makeFile, withoutDerived } from './make.ts'
import { probeGroup } from './probe.ts'
import { CHOICES, probeText } from './update.ts'

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

const KIND: FileKind<Config> = {
  empty: NEW_CONFIG,
  isOne: isConfig,
  parse: parseConfig,
  text: configText,
  marked,
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
    const groupDir = dir ?? defaultGroupDir(io)
    const tag = last(given, 'g')
    if (tag !== undefined) return showGroup(tag, file, groupDir, dir !== undefined, io)
    const warn = (old: Config): void => {
      if (old.groupDir !== undefined && old.groupDir !== groupDir)
        io.stderr.write(
          `${io.progname}: Warning: groups are taken from ${groupDir}, those in ${file} were from ${old.groupDir}\n`,
        )
    }
    return makeFile(KIND, { file, dir, asksIntervals: !has('q'), has, warn }, standard, io)
  },
}

function last(given: readonly GivenOption[], letter: string): string | undefined {
  return given.findLast(({ name }) => name === letter)?.value
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
    const below = relative(defaultGroupDir(io), resolve(io.cwd, file))
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
