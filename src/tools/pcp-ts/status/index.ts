/** pcp-ts status: shows what runs on this machine. */
import { readFileSync } from 'node:fs'
import { statusOf } from '../../../start/status.ts'
import { HELP_ROW, type OptionTable, parseOptions } from '../../lib/options.ts'
import { handleSubcommandExit } from '../../lib/subcommand.ts'
import type { Tool } from '../../lib/tool.ts'
import { statusText } from './text.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [{ long: 'json', help: 'print JSON instead of text' }, HELP_ROW],
}

/** Exit statuses. */
const FAILS = 1
const NOTHING_RUNS = 3

export const tool: Tool = {
  name: 'pcp-ts-status',
  summary: 'Show what runs on this machine, what it records and what fails',
  description: `
Shows the instances of this user, our system service, and the collector of an installed PCP if it runs: version, process, addresses,
archives, agents, clients, memory and CPU time. A source of facts that does not answer within two seconds is reported as failing.`,
  examples: [
    ['pcp-ts status', 'Everything that runs here:'],
    ['pcp-ts status --json', 'The same for programs:'],
  ],
  exitStatus: [
    [FAILS, 'something fails, which is printed, or an error'],
    [NOTHING_RUNS, 'nothing runs'],
  ],
  seeAlso: ['pcp-ts-start', 'pcp-ts-doctor', 'pmcd'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleSubcommandExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const instances = await statusOf({
      env: io.env,
      now: io.now,
      readText: readIfPresent,
      ...(io.connect === undefined ? {} : { connect: io.connect }),
    })
    const isJson = parsed.given.some(({ option }) => option.long === 'json')
    io.stdout.write(
      isJson ? `${JSON.stringify({ instances }, undefined, 2)}\n` : statusText(instances, io.now()),
    )
    if (instances.length === 0) return NOTHING_RUNS
    return instances.some(({ problems }) => problems.length > 0) ? FAILS : 0
  },
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // no such process, or no /proc
  }
}
