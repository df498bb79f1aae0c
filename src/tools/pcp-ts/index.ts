/** pcp-ts: runs all commands of this package, for `npx pcp-ts COMMAND` and for hosts without them on the PATH. */
import { versionLine } from '../../base/version.ts'
import { PcpError } from '../../model/errors.ts'
import { handleEarlyExit, type OptionTable, parseOptions } from '../lib/options.ts'
import { ownProgram } from '../lib/own-program.ts'
import { runEntry } from '../lib/run-entry.ts'
import { runProgram } from '../lib/run-program.ts'
import { didYouMean, similarNames } from '../lib/similar-names.ts'
import type { CommandEntry, Tool, ToolIo } from '../lib/tool.ts'
import { classicNames, listText } from './list.ts'

const OPTIONS: OptionTable = {
  synopsis: 'command [argument ...]',
  operands: 'none',
  posix: true,
  rows: [
    { short: 'V', long: 'version', help: 'print the version and exit' },
    { short: '?', long: 'help', help: 'list the commands and exit' },
  ],
}

/** Runs the command named by its first argument; without one lists the commands. */
export const tool: Tool = {
  name: 'pcp-ts',
  summary: 'Run a command of this package',
  description: `
Arguments after the command's name belong to that command. Without arguments, the commands are listed.`,
  examples: [
    ['npx pcp-ts pminfo -f kernel.all.load', 'The load of this host, without installing anything:'],
    ['pcp-ts pmval --help', 'Options of a command:'],
  ],
  exitStatus: [[2, 'an error, or any other status of the command']],
  seeAlso: ['pcp-ts-start', 'pcp-ts-link', 'pcp-ts-man', 'pcp-ts-completion', 'pcp', 'pminfo', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const [name, ...args] = io.args
    const commands = (await commandsOf(io)).filter((entry) => entry.name !== tool.name)
    if (name === undefined || name === '-?' || name === '--help') {
      io.stdout.write(await listText(commands, io.progname, OPTIONS.synopsis))
      return 0
    }
    if (name === '-V' || name === '--version') {
      io.stderr.write(versionLine(io.progname))
      return 0
    }
    // No command begins with a dash, so this reports an unknown option.
    if (name.startsWith('-')) return handleEarlyExit(OPTIONS, parseOptions(OPTIONS, io), io) ?? 1
    const subcommand = commands.find((each) => isSubcommand(each) && each.name === `${tool.name}-${name}`)
    if (subcommand !== undefined)
      return runEntry(subcommand, { ...io, progname: `${io.progname} ${name}`, args })
    const entry = commands.find((each) => !isSubcommand(each) && each.name === name)
    if (entry !== undefined) return runEntry(entry, { ...io, progname: name, args })
    // Agents' daemons are programs, not commands with an option table.
    const classic = classicNames(commands)
    if (classic.includes(name)) return runProgram(ownProgram(name), { ...io, progname: name, args })
    // Users often omit the beginning of a long name.
    const names = [...commands.filter(isSubcommand).map(wordOf), ...classic]
    const near = [
      ...similarNames(name, names),
      ...similarNames(`pm${name}`, names),
      ...similarNames(`pcp-${name}`, names),
    ]
    throw new PcpError(
      'EINVAL',
      `Unknown command "${name}".${didYouMean([...new Set(near)])} Run ${io.progname} without arguments to list all commands.`,
    )
  },
}

async function commandsOf({ commands }: ToolIo): Promise<readonly CommandEntry[]> {
  return commands === undefined ? [] : commands()
}

const isSubcommand = ({ subcommandOf }: CommandEntry): boolean => subcommandOf === tool.name

/** Returns the argument that runs a command. */
const wordOf = (entry: CommandEntry): string =>
  isSubcommand(entry) ? entry.name.slice(tool.name.length + 1) : entry.name
