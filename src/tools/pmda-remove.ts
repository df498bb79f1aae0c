/** pmda-remove: removes an agent installed by pmda-install. PCP uses scripts for this. docs/reference/agent-toolkit.md */
import { removeAgent } from './lib/agent-install/install.ts'
import { installSettings } from './lib/agent-install/settings.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] agent',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'Q', long: 'no-check', help: 'do not check that the metrics are gone' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Removes an agent's names, files and line in pmcd.conf, and signals the collector. */
export const tool: Tool = {
  name: 'pmda-remove',
  summary: 'Remove an agent from a collector',
  description: `
Removes everything pmda-install has installed: names, help files, pmlogconf groups, pmieconf rules, views and the line in
pmcd.conf, and signals the running collector. If a step fails, everything is restored. Removing an agent that is not installed is not
an error.`,
  examples: [['pmda-remove simple', 'Remove the agent simple:']],
  seeAlso: ['pmda-install', 'pmcd'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const has = (name: string): boolean => given.some((option) => option.name === name)
    const [agent = ''] = operands
    if (!has('?') && !has('V') && (operands.length !== 1 || !/^[A-Za-z][\w.-]*$/.test(agent)))
      problems.push('an agent is required')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const wasThere = await removeAgent(agent, installSettings(io, { checks: !has('Q') }))
    if (!wasThere) io.stdout.write(`${agent} was not installed by pmda-install: nothing to remove\n`)
    return 0
  },
}
