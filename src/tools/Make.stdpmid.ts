/**
 * Make.stdpmid: generates stdpmid from the files stdpmid.* in the current directory. docs/formats/pmns.md §8
 *
 * Unlike the reference, it rejects invalid domain numbers, leaves out lines the preprocessor could not handle, and exits with
 * status 1 after any error.
 */
import { join } from 'node:path'
import {
  HELP_ROW,
  handleEarlyExit,
  type OptionTable,
  parseOptions,
  usageText,
  VERSION_ROW,
} from './lib/options.ts'
import { updateStdpmid } from './lib/stdpmid.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = { synopsis: '[-V]', rows: [VERSION_ROW, HELP_ROW] }

export const tool: Tool = {
  name: 'Make.stdpmid',
  summary: 'Generate the file of agents’ domain numbers',
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const result = updateStdpmid(io.cwd)
    if (result === undefined) {
      io.stderr.write(`${io.progname}: Error: no stdpmid.* files in ${join(io.cwd, '.')}\n`)
      return 1
    }
    for (const error of result.errors) io.stderr.write(`${io.progname}: Error: ${error}\n`)
    for (const warning of result.warnings) io.stderr.write(`${io.progname}: Warning: ${warning}\n`)
    return result.errors.length === 0 ? 0 : 1
  },
}
