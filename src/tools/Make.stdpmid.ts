/**
 * Make.stdpmid: make stdpmid of the registers stdpmid.* in the current directory. docs/formats/pmns.md §8
 *
 * Unlike the reference it refuses numbers no agent can have, leaves out what the preprocessor would stumble over, and
 * ends with status 1 when it complained.
 */
import { join } from 'node:path'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, usageText, VERSION_ROW } from './lib/options.ts'
import { updateStdpmid } from './lib/stdpmid.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = { synopsis: '[-V]', rows: [VERSION_ROW, HELP_ROW] }

/** Makes stdpmid in the current directory. */
export const tool: Tool = {
  name: 'Make.stdpmid',
  summary: 'Make the file of agents’ domain numbers',
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const result = updateStdpmid(io.cwd)
    if (result === undefined) {
      io.stderr.write(`${io.progname}: Error: no stdpmid.* in ${join(io.cwd, '.')} to make stdpmid of\n`)
      return 1
    }
    for (const error of result.errors) io.stderr.write(`${io.progname}: Error: ${error}\n`)
    for (const warning of result.warnings) io.stderr.write(`${io.progname}: Warning: ${warning}\n`)
    return result.errors.length === 0 ? 0 : 1
  },
}
