/** pcp: runs commands that tell of performance, with options that all of them understand. pcp(1) */

import { versionLine } from '../../base/version.ts'
import { loadConfig } from '../../sys/config.ts'
import { didYouMean, nearNames } from '../lib/near-names.ts'
import { endEarly, parseOptions } from '../lib/options.ts'
import { runEntry } from '../lib/run-entry.ts'
import type { CommandEntry, Tool, ToolIo } from '../lib/tool.ts'
import { balancedLines } from '../lib/wrap.ts'
import {
  type CommandPlaces,
  commandNames,
  commandPlaces,
  ownProgramOf,
  programAt,
  programOf,
} from './commands.ts'
import { OPTIONS, PMIE_ROW, variablesFor } from './options.ts'
import { runProgram } from './program.ts'

const SUMMARY = 'summary'
/** The list of commands is set in this width, and its further lines are indented. */
const LIST = { width: 64, indent: 11 }

/** Runs `pcp-COMMAND`; without a command, shows the summary of an installation. */
export const tool: Tool = {
  name: 'pcp',
  summary: 'Run a command that tells of performance, or show what is installed',
  description: `
The options before the command say where values come from and when; they are handed to the command by variables of the environment.
What stands behind the command is the command's own, and may use the same letters for other things.

A command NAME is the program pcp-NAME: one of the user's own in ~/.pcp/bin, else one of this package, else one in the folder
that PCP_BINADM_DIR names; where there is none, NAME is the path of a program. The list of all of them ends the text of --help.

Without a command there is a summary of the host or archive: hardware, services, agents, loggers and rule engines.`,
  examples: [
    ['pcp', 'What is installed here:'],
    ['pcp -h db1 free', 'The memory of db1:'],
    ['pcp -a 20261120 -S @10:00 -T @11:00 -t 5min iostat', 'The disks of an hour:'],
  ],
  exitStatus: [[2, 'as the command ended, whatever it says']],
  seeAlso: ['pcp-summary', 'pcp-free', 'pcp-iostat', 'pcp-mpstat', 'pcp-uptime', 'pcp-vmstat'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    if (parsed.given.some(({ option }) => option.long === 'version')) {
      io.stdout.write(versionLine(io.progname)) // where others have it on standard error
      return 0
    }
    const { variables } = loadConfig(io.env)
    const places = commandPlaces(io.env, variables)
    const status = endEarly(OPTIONS, parsed, io)
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

/** Ours run in this process: starting another one would take longer than most of their work. */
async function runCommand(command: string, io: ToolIo, places: CommandPlaces): Promise<number> {
  const own = ownProgramOf(places.user, command)
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
  const hint = didYouMean(nearNames(command, known)).trim() || 'Please install pcp system tools package'
  io.stderr.write(`Cannot find a ${name} command to execute\n${hint}\n`)
  return 1
}

/** The commands of this package; none where nobody says. */
async function oursOf({ commands }: ToolIo): Promise<readonly CommandEntry[]> {
  return commands === undefined ? [] : commands()
}

async function sayCommands(places: CommandPlaces, io: ToolIo): Promise<void> {
  const ours = (await oursOf(io)).map(({ name }) => name)
  const lines = balancedLines(['Available', 'Commands:', '   ', ...commandNames(places, ours)], LIST.width)
  io.stderr.write(`\n${lines.join(`\n${' '.repeat(LIST.indent)}`)}\n`)
}
