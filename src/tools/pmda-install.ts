/** pmda-install: put an agent of this package, or of one's own, into a collector. Ours; PCP has scripts. docs/agents.md */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { installAgent } from './lib/agent-install/install.ts'
import { binDirOf, installSettings, installVariables } from './lib/agent-install/settings.ts'
import { type Style, subjectOf } from './lib/agent-install/subject.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool } from './lib/tool.ts'

const STYLES: readonly Style[] = ['pipe', 'dso', 'worker', 'unix', 'inet']

const OPTIONS: OptionTable = {
  synopsis: '[options] agent|module.mjs',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'domain', arg: 'N', help: "domain of its metrics (default: the agent's own)" },
    { short: 'l', long: 'list', help: 'list the agents of this package' },
    { short: 'p', long: 'port', arg: 'N', help: 'port of style inet' },
    { short: 'Q', long: 'no-check', help: 'do not look for the metrics in the end' },
    { short: 's', long: 'style', arg: 'STYLE', help: 'pipe (default), dso, worker, unix or inet' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Installs an agent: names, help files, its line in pmcd.conf; then tells the collector and looks for the metrics. */
export const tool: Tool = {
  name: 'pmda-install',
  summary: 'Put an agent into a collector',
  description: `
Adds an agent's metrics to the name space, writes its help files, puts in place the pmlogconf groups, pmieconf rules and views in
the folders pmlogconf, pmieconf and views beside it, adds its line to pmcd.conf, tells the running collector, and looks whether the
metrics came. When something fails everything is as it was. Doing it again is harmless. pmda-remove takes it all away.

The agent is one of this package or a JavaScript module that exports one as "agent". With the styles dso and worker it runs in
the process of our collector; the others start a process of its own and suit PCP's collector as well. Of a module that process is
the program pmdaNAME.mjs beside it.

Files are those that pcp.conf and the environment name, so a collector of one's own needs no rights.`,
  examples: [
    ['pmda-install simple', 'An agent of this package as a process of its own:'],
    ['pmda-install -s worker ./agent.mjs', 'An agent of your own in a thread of our collector:'],
  ],
  seeAlso: ['pmda-remove', 'pmda-new', 'pmcd', 'dbpmda'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const style = STYLES.find((each) => each === (last('s') ?? 'pipe'))
    const numbers = { domain: numberOf(last('d'), 1, 510), port: numberOf(last('p'), 1, 65_535) }
    const isList = last('l') !== undefined
    if (style === undefined) problems.push(`no style is called "${last('s')}"`)
    if (Number.isNaN(numbers.domain)) problems.push('-d wants a number from 1 to 510')
    if (Number.isNaN(numbers.port) || (style === 'inet' && numbers.port === undefined))
      problems.push('style inet wants a port (-p)')
    if (operands.length !== (isList ? 0 : 1) && last('?') === undefined && last('V') === undefined)
      problems.push('which agent?')
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (isList) {
      const { AGENTS } = await import('../agents/registry.ts')
      for (const { name, domain } of AGENTS) io.stdout.write(`${name} ${domain}\n`)
      return 0
    }
    const [agent] = operands
    const { isAgentModule } = await import('../pmcd/agent-module.ts')
    const isModule = isAgentModule(agent!)
    const path = isModule ? resolve(io.cwd, agent!) : agent!
    if (isModule && !existsSync(path)) throw new PcpError('ENOENT', `No module ${path}`)
    const subject = await subjectOf({
      agent: path,
      style: style!,
      domain: numbers.domain,
      port: numbers.port ?? 0,
      binDir: binDirOf(process.argv[1]!),
      variables: installVariables(io),
    })
    await installAgent(subject, installSettings(io, { checks: last('Q') === undefined }))
    return 0
  },
}

/** Undefined for nothing, NaN for what is no number in the range. */
function numberOf(text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return number >= least && number <= most ? number : Number.NaN
}
