/** pcp: runs performance tools with options common to all of them. pcp(1) */

import { versionLine } from '../../base/version.ts'
import { loadConfig } from '../../sys/config.ts'
import { handleEarlyExit, parseOptions } from '../lib/options.ts'
import { runEntry } from '../lib/run-entry.ts'
import { runProgram } from '../lib/run-program.ts'
import { didYouMean, similarNames } from '../lib/similar-names.ts'
import type { CommandEntry, Tool, ToolIo } from '../lib/tool.ts'
import { balancedLines } from '../lib/wrap.ts'
import {
  type CommandFolders,
  commandFolders,
  commandNames,
  programAt,
  programOf,
  userProgramOf,
} from './commands.ts'
import { OPTIONS, PMIE_ROW, variablesFor } from './options.ts'

const SUMMARY = 'summary'
/** Layout of the list of commands. */
const LIST = { width: 64, indent: 11 }

/** Runs `pcp-COMMAND`; without a command, shows a summary of the installation. */
export const tool: Tool = {
  name: 'pcp',
  summary: 'Run a performance tool, or summarize the installation',
  description: `
Options before the command select the source of values and the time window; they are passed to the command in environment variables.
Arguments after the command's name belong to the command, and may use the same letters for other options.

A command NAME is the program pcp-NAME, which is looked up in the user's ~/.pcp/bin, among the commands of this package, and in the
folder $PCP_BINADM_DIR. If it is not found, NAME is the path of a program. --help lists all commands.

Without a command, a summary of the host or archive is shown: hardware, services, agents, loggers and rule engines.`,
  examples: [
    ['pcp', 'Summary of this installation:'],
    ['pcp -h db1 free', 'The memory of db1:'],
    ['pcp -a 20261120 -S @10:00 -T @11:00 -t 5min iostat', 'The disks of an hour:'],
  ],
  exitStatus: [[2, 'an error, or any other status of the command']],
  seeAlso: ['pcp-summary', 'pcp-free', 'pcp-iostat', 'pcp-mpstat', 'pcp-uptime', 'pcp-vmstat'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    if (parsed.given.some(({ option }) => option.long === 'version')) {
      io.stdout.write(versionLine(io.progname)) // other commands print it on standard error
      return 0
    }
    const { variables } = loadConfig(io.env)
    const places = commandFolders(io.env, variables)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) {
      await sayCommands(places, io)
      return status
    }
    const env = { ...io.env, ...variablesFor(parsed.given) }
    const isPmie = parsed.given.some(({ option }) => option === PMIE_ROW)
    const [command = SUMMARY, ...args] = parsed.operands
    if (command === SUMMARY && isPmie) args.unshift('-P')
    return runCommand(command, { ...io, env, args }, places)
  },
}

/** Runs commands of this package in-process, as starting another process takes longer than most of them run. */
async function runCommand(command: string, io: ToolIo, places: CommandFolders): Promise<number> {
  const own = userProgramOf(places.user, command)
  if (own !== undefined) return runProgram(own, io)
  const name = `pcp-${command}`
  const ours = await oursOf(io)
  const entry = ours.find((each) => each.name === name)
  if (entry !== undefined) return runEntry(entry, { ...io, progname: name })
  const other = programOf(places.system, command) ?? programAt(command, io.cwd)
  if (other !== undefined) return runProgram(other, io)
  const known = commandNames(
    places,
    ours.map((each) => each.name),
  )
  const hint = didYouMean(similarNames(command, known)).trim() || 'Please install pcp system tools package'
  io.stderr.write(`Cannot find a ${name} command to execute\n${hint}\n`)
  return 1
}

/** Loads the commands of this package; empty if the caller provides none. */
async function oursOf({ commands }: ToolIo): Promise<readonly CommandEntry[]> {
  return commands === undefined ? [] : commands()
}

async function sayCommands(places: CommandFolders, io: ToolIo): Promise<void> {
  const ours = (await oursOf(io)).map(({ name }) => name)
  const lines = balancedLines(['Available', 'Commands:', '   ', ...commandNames(places, ours)], LIST.width)
  io.stderr.write(`\n${lines.join(`\n${' '.repeat(LIST.indent)}`)}\n`)
}
