/** pcp-ts doctor: tries what commonly goes wrong. */
import { dirname } from 'node:path'
import { loggableMessage } from '../../../base/printable.ts'
import { HELP_ROW, type OptionTable, parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool } from '../../lib/tool.ts'
import { CHECKS } from './checks.ts'
import { type Result, runChecks } from './run-checks.ts'
import { thisMachine } from './this-machine.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [{ long: 'json', help: 'print JSON instead of text' }, HELP_ROW],
}

export const tool: Tool = {
  name: 'pcp-ts-doctor',
  summary: 'Check this machine for what commonly goes wrong',
  description: `
Checks Node, ports, addresses, directories, disks, the clock, other installations and the running instances, and prints what to do about each
finding. Nothing is changed.`,
  examples: [['pcp-ts doctor', 'Check this machine:']],
  exitStatus: [[1, 'a check has failed, or an error']],
  seeAlso: ['pcp-ts-status', 'pcp-ts-start'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    // A pack of the build is in bin/parts.
    const machine = await thisMachine({ env: io.env, now: io.now, binDir: dirname(__dirname) })
    const results = await runChecks(CHECKS, machine)
    const isJson = parsed.given.some(({ option }) => option.long === 'json')
    io.stdout.write(isJson ? `${JSON.stringify({ checks: results }, undefined, 2)}\n` : resultText(results))
    return results.some(({ verdict }) => verdict === 'fail') ? 1 : 0
  },
}

/** Returns a line per check, with advice below those that are not fine, and a summary. */
export function resultText(results: readonly Result[]): string {
  const lines = results.flatMap(({ verdict, title, text, advice }) => {
    const line = `${verdict.padEnd(4)}  ${title}: ${text}`
    return advice === undefined ? [line] : [line, `      → ${advice}`]
  })
  const count = (wanted: string): number => results.filter(({ verdict }) => verdict === wanted).length
  const summary = `${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failures`
  return `${lines.map((line) => `${loggableMessage(line)}\n`).join('')}\n${summary}\n`
}
