/** What the subcommands of pcp-ts have in common. */
import { type EarlyOptions, handleEarlyExit, type OptionTable, usageText } from './options.ts'
import type { ToolIo } from './tool.ts'

/**
 * Handles --help, --version and errors of a subcommand's command line. Returns the exit status, or undefined if the command should run.
 * Requested help is a success and goes to standard output, unlike that of PCP's commands.
 */
export function handleSubcommandExit(
  table: OptionTable,
  beginning: EarlyOptions,
  io: ToolIo,
): number | undefined {
  const { given, problems } = beginning
  if (problems.length > 0 || !given.some(({ option }) => option.long === 'help'))
    return handleEarlyExit(table, beginning, io)
  io.stdout.write(usageText(table, io.progname))
  return 0
}
