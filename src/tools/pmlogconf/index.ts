/**
 * pmlogconf: creates and updates pmlogger configurations from groups of metrics. pmlogconf(1)
 *
 * Unlike PCP's pmlogconf, it does not replace a file it did not create, and an empty answer for an interval keeps the interval.
 */
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import {
  type GivenOption,
  HELP_ROW,
  handleEarlyExit,
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
  NEW_CONFIG,
  parseConfig,
  withCreationTime,
} from './config-file.ts'
import { readGroup, readGroups } from './group-sources.ts'
import { defaultGroupDir, type FileKind, makeFile, withoutDerived } from './make.ts'
import { probeGroup } from './probe.ts'
import { CHOICES, probeText } from './update.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] configfile',
  rows: [
    STANDARD.host,
    { short: 'c', help: 'add the time of creation, and do not prompt' },
    { short: 'g', long: 'group', arg: 'TAG', kind: 'none', help: "show the file's entry for this group" },
    { short: 'd', long: 'groups', arg: 'DIR', help: 'read groups from the files below DIR' },
    { short: 'q', long: 'quiet', help: 'do not prompt for intervals' },
    { short: 'r', long: 'reprobe', help: 'probe all groups again' },
    { short: 's', long: 'setup', arg: 'FILE', help: 'show the entry for the group file FILE' },
    { short: 'v', long: 'verbose', help: 'show the result of each probe' },
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
  marked: withCreationTime,
}

/** Creates and updates configurations of pmlogger. */
export const tool: Tool = {
  name: 'pmlogconf',
  summary: 'Create a pmlogger configuration from groups of metrics',
  description: `
Groups are sets of metrics that are logged together. Each is described by a file with a description, an interval, a probe that decides
whether to log it, and its metrics. PCP's groups are below PCP_VAR_DIR/config/pmlogconf; if there are none, this command uses its own
groups for all metrics of the agents linux and proc.

A new or empty configuration is created from the results of the probes. For an existing one, it prompts for each group: y logs it, n
does not, m lists its metrics, /TEXT skips to the next group with TEXT, q quits. The part of the file after the end of the generated
section is never changed. PCP's pmlogconf reads and writes the same files.`,
  examples: [
    ['pmlogconf -c -q config.default', 'Create a configuration for the collector on this host:'],
    ['pmlogconf -r -h db1 config.db1', 'Select all groups again by the metrics of db1:'],
  ],
  seeAlso: ['pmlogger', 'pmieconf'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, standard } = parsed
    const has = (letter: string): boolean => given.some(({ name }) => name === letter)
    const status = handleEarlyExit(OPTIONS, parsed, io)
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

/** Prints a group of the file, with the interval of its group file; nothing if the file does not have it. */
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
