/**
 * pmrepconf: creates and updates pmrep configurations from groups of metrics. pmrepconf(1)
 *
 * Groups, probes and prompts are pmlogconf's; intervals are not used. Unlike PCP's pmrepconf, it does not replace a file it did not
 * create.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, usageText, VERSION_ROW } from '../lib/options.ts'
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
    { short: 'c', help: 'add the time of creation, and do not prompt' },
    { short: 'g', long: 'group', arg: 'TAG', help: "show the file's entry for this group" },
    { short: 'd', long: 'groups', arg: 'DIR', help: 'read groups from the files below DIR' },
    { short: 'o', long: 'option', arg: 'KEY=VALUE', help: 'put an option of pmrep into the file' },
    { short: 'r', long: 'reprobe', help: 'probe all groups again' },
    { short: 'v', long: 'verbose', help: 'show the result of each probe' },
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

/** Creates and updates configurations of pmrep. */
export const tool: Tool = {
  name: 'pmrepconf',
  summary: 'Create a pmrep configuration from groups of metrics',
  description: `
Writes a metric set named metrics for pmrep and the exporters, from the groups whose probes succeed. The groups are pmlogconf's. For an
existing configuration, it prompts for each group: y shows it, n does not, m lists its metrics, /TEXT skips to the next group with
TEXT, q quits. The part of the file after the end of the generated section is never changed.`,
  examples: [
    ['pmrepconf -c my.conf', 'Create a configuration for the collector on this host:'],
    ['pmrep -c my.conf :metrics', 'Show its metrics:'],
  ],
  seeAlso: ['pmrep', 'pmlogconf'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { given, operands, standard } = parsed
    const all = (letter: string): string[] =>
      given.filter(({ name, option }) => name === letter || option.short === letter).map(({ value }) => value)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [file] = operands
    if (file === undefined || operands.length > 1) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const options = all('o')
    const wrong = options.find((option) => !/^\w+\s*=\s*\S/.test(option))
    if (wrong !== undefined)
      throw new PcpError('PM_ERR_GENERIC', `-o ${wrong} is not an option of pmrep: use KEY=VALUE`)
    const tag = all('g').at(-1)
    if (tag !== undefined) return showGroup(tag, file, io)
    const has = (letter: string): boolean => all(letter).length > 0
    const change = (config: RepConfig): RepConfig => withOptions(config, options)
    return makeFile(KIND, { file, dir: all('d').at(-1), asksIntervals: false, has, change }, standard, io)
  },
}

/** Prints a group of the file; nothing if the file does not have it. */
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
