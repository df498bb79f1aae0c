/** pmda-remove: take away an agent that pmda-install has put into a collector. Ours; PCP has scripts. docs/agents.md */
import { removeAgent } from './lib/agent-install/install.ts'
import { installSettings } from './lib/agent-install/settings.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] agent',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'Q', long: 'no-check', help: 'do not look whether the metrics are gone' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Removes an agent's names, files and line, and tells the collector. */
export const tool: Tool = {
  name: 'pmda-remove',
  summary: 'Take an agent out of a collector',
  description: `
Takes away what pmda-install has put in place: names, help files, pmlogconf groups, pmieconf rules, views and the line in
pmcd.conf, and tells the running collector. When something fails everything is as it was. An agent that is not installed is no error.`,
  examples: [['pmda-remove simple', 'The agent called simple:']],
  seeAlso: ['pmda-install', 'pmcd'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const has = (name: string): boolean => given.some((option) => option.name === name)
    const [agent = ''] = operands
    if (!has('?') && !has('V') && (operands.length !== 1 || !/^[A-Za-z][\w.-]*$/.test(agent)))
      problems.push('which agent?')
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const wasThere = await removeAgent(agent, installSettings(io, { checks: !has('Q') }))
    if (!wasThere) io.stdout.write(`${agent} was not installed by pmda-install: nothing to remove\n`)
    return 0
  },
}
