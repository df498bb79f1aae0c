/** pcp-ts: all commands of this package by one name, for `npx pcp-ts COMMAND` and for hosts that have them not on their path. */
import { versionLine } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { didYouMean, nearNames } from './lib/near-names.ts'
import { endEarly, type OptionTable, parseOptions } from './lib/options.ts'
import { runEntry } from './lib/run-entry.ts'
import type { CommandEntry, Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: 'command [argument ...]',
  operands: 'none',
  posix: true,
  rows: [
    { short: 'V', long: 'version', help: 'print the version and exit' },
    { short: '?', long: 'help', help: 'list the commands and exit' },
  ],
}

/** Runs the command that its first argument names; lists them without one. */
export const tool: Tool = {
  name: 'pcp-ts',
  summary: 'Run a command of this package',
  description: `
All that stands behind the command's name is the command's own. Without one there is a list of the commands, each with a line that
says what it is for.`,
  examples: [
    ['npx pcp-ts pminfo -f kernel.all.load', 'The load of this host, without installing anything:'],
    ['pcp-ts pmval --help', 'What is there to know about a command?'],
  ],
  exitStatus: [[2, 'as the command ended, whatever it says']],
  seeAlso: ['pcp', 'pminfo', 'pmrep'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const [name, ...args] = io.args
    const commands = (await commandsOf(io)).filter((entry) => entry.name !== tool.name)
    if (name === undefined || name === '-?' || name === '--help') {
      io.stdout.write(await listText(commands, io))
      return 0
    }
    if (name === '-V' || name === '--version') {
      io.stderr.write(versionLine(io.progname))
      return 0
    }
    // No command begins with a dash, so this says which option there is not.
    if (name.startsWith('-')) return endEarly(OPTIONS, parseOptions(OPTIONS, io), io) ?? 1
    const entry = commands.find((each) => each.name === name)
    if (entry !== undefined) return runEntry(entry, { ...io, progname: name, args })
    // Their names are long: most people leave out how they begin.
    const names = commands.map((each) => each.name)
    const near = [
      ...nearNames(name, names),
      ...nearNames(`pm${name}`, names),
      ...nearNames(`pcp-${name}`, names),
    ]
    throw new PcpError(
      'EINVAL',
      `There is no command "${name}".${didYouMean([...new Set(near)])} ${io.progname} alone lists all.`,
    )
  },
}

async function commandsOf({ commands }: ToolIo): Promise<readonly CommandEntry[]> {
  return commands === undefined ? [] : commands()
}

/** The usage line, and a line for each command. */
async function listText(commands: readonly CommandEntry[], { progname }: ToolIo): Promise<string> {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = await Promise.all(
    commands
      .filter(({ name }) => /^[a-z]/.test(name)) // others are for scripts
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(async ({ name, load }) => `  ${name.padEnd(width)}  ${(await load()).summary}\n`),
  )
  return `Usage: ${progname} ${OPTIONS.synopsis}\n\nCommands, each with more to say for --help:\n${lines.join('')}`
}
