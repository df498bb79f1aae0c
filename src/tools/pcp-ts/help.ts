/** pcp-ts help: shows the options of a command. */
import { HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { runEntry } from '../lib/run-entry.ts'
import { handleSubcommandExit } from '../lib/subcommand.ts'
import type { Tool } from '../lib/tool.ts'
import { classicNames } from './list.ts'

const OPTIONS: OptionTable = { synopsis: '[NAME]', operands: 'command', rows: [VERSION_ROW, HELP_ROW] }

/** Shows a command's usage text, or the list of all commands. */
export const tool: Tool = {
  name: 'pcp-ts-help',
  summary: 'Show the options of a command',
  description: `
pcp-ts help NAME is the same as pcp-ts NAME --help. Without NAME, all commands are listed.`,
  seeAlso: ['pcp-ts', 'pcp-ts-man'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    if (parsed.operands.length > 1) parsed.problems.push('Too many names')
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const commands = (await io.commands?.()) ?? []
    const entry = commands.find((each) => each.name === 'pcp-ts')
    if (entry === undefined) return 1
    const [name = 'pcp-ts'] = parsed.operands
    const args = name === 'pcp-ts' ? ['--help'] : [name, '--help']
    const ended = await runEntry(entry, { ...io, progname: 'pcp-ts', args })
    // PCP's commands treat their usage text as an error, but it was asked for here.
    const isKnown = commands.some((each) => each.name === name || each.name === `pcp-ts-${name}`)
    return isKnown || classicNames(commands).includes(name) ? 0 : ended
  },
}
