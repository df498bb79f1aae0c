/**
 * pmrepconf: configurations of pmrep from groups of metrics. pmrepconf(1)
 *
 * Groups, probes and questions are those of pmlogconf; intervals mean nothing here. Unlike PCP's it does not replace a file that it
 * did not make.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { endEarly, HELP_ROW, type OptionTable, usageText, VERSION_ROW } from '../lib/options.ts'
import { parseStandard, STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type FileKind, makeFile } from './make.ts'
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

const KIND: FileKind<RepConfig> = {
  empty: NEW_REP_CONFIG,
  isOne: isRepConfig,
  parse: parseRepConfig,
  text: repConfigText,
  marked: repConfigMade,
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
    const has = (letter: string): boolean => all(letter).length > 0
    const change = (config: RepConfig): RepConfig => withOptions(config, options)
    return makeFile(KIND, { file, dir: all('d').at(-1), asksIntervals: false, has, change }, standard, io)
  },
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
