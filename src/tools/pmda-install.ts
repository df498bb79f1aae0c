/** pmda-install: installs an agent of this package or of the user. PCP uses scripts for this. docs/reference/agent-toolkit.md */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type AgentTransport, resolveAgent } from './lib/agent-install/agent-package.ts'
import { installAgent } from './lib/agent-install/install.ts'
import { installSettings, installVariables } from './lib/agent-install/settings.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import { ownBinDir } from './lib/own-program.ts'
import type { Tool } from './lib/tool.ts'

const STYLES: readonly AgentTransport[] = ['pipe', 'dso', 'worker', 'unix', 'inet']

const OPTIONS: OptionTable = {
  synopsis: '[options] agent|module.mjs',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'domain', arg: 'N', help: "domain number of its metrics (default: the agent's own)" },
    { short: 'l', long: 'list', help: 'list the agents of this package' },
    { short: 'p', long: 'port', arg: 'N', help: 'port of style inet' },
    { short: 'Q', long: 'no-check', help: 'do not check for the metrics afterwards' },
    { short: 's', long: 'style', arg: 'STYLE', help: 'pipe (default), dso, worker, unix or inet' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Installs an agent: names, help files and its line in pmcd.conf; then signals the collector and checks for the metrics. */
export const tool: Tool = {
  name: 'pmda-install',
  summary: 'Install an agent into a collector',
  description: `
Adds an agent's metrics to the name space, writes its help files, installs the pmlogconf groups, pmieconf rules and views from the
folders pmlogconf, pmieconf and views beside it, adds its line to pmcd.conf, signals the running collector, and checks that the
metrics are available. If a step fails, everything is restored. Repeating it is harmless. pmda-remove removes it all.

The agent is one of this package or a JavaScript module that exports one as "agent". With the styles dso and worker it runs in
the process of pmcd; the others start a separate process and also work with PCP's own pmcd. The process of a module is the program
pmdaNAME.mjs beside it.

Paths come from pcp.conf and the environment, so a private collector needs no special privileges.`,
  examples: [
    ['pmda-install simple', 'Install an agent of this package as a separate process:'],
    ['pmda-install -s worker ./agent.mjs', 'Install your own agent in a thread of pmcd:'],
  ],
  seeAlso: ['pmda-remove', 'pmda-new', 'pmcd', 'dbpmda'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const style = STYLES.find((each) => each === (last('s') ?? 'pipe'))
    const numbers = { domain: numberOf(last('d'), 1, 510), port: numberOf(last('p'), 1, 65_535) }
    const isList = last('l') !== undefined
    if (style === undefined) problems.push(`unknown style "${last('s')}"`)
    if (Number.isNaN(numbers.domain)) problems.push('-d requires a number from 1 to 510')
    if (Number.isNaN(numbers.port) || (style === 'inet' && numbers.port === undefined))
      problems.push('style inet requires a port (-p)')
    if (operands.length !== (isList ? 0 : 1) && last('?') === undefined && last('V') === undefined)
      problems.push('an agent is required')
    const status = handleEarlyExit(OPTIONS, parsed, io)
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
    if (isModule && !existsSync(path)) throw new PcpError('ENOENT', `Module ${path} does not exist`)
    const subject = await resolveAgent({
      agent: path,
      style: style!,
      domain: numbers.domain,
      port: numbers.port ?? 0,
      binDir: ownBinDir(),
      variables: installVariables(io),
    })
    await installAgent(subject, installSettings(io, { checks: last('Q') === undefined }))
    return 0
  },
}

/** Parses a number; undefined if absent, NaN if invalid or out of range. */
function numberOf(text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return number >= least && number <= most ? number : Number.NaN
}
