/** The agent to install or remove: one of this package, or a user's module. docs/reference/agent-toolkit.md */

import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { isDynamicRoot, type Pmid } from '../../../model/ids.ts'
import { ANONYMOUS } from '../../../model/source.ts'
import type { HelpEntry } from '../../../pmda/help-source.ts'
import { type AgentSource, openAgent } from '../../../pmda/open-agent.ts'
import type { Variables } from '../../../sys/config.ts'
import { tmpDirOf } from '../../../sys/config.ts'

/** How a collector reaches the agent. */
export type AgentTransport = 'pipe' | 'dso' | 'worker' | 'unix' | 'inet'

/** An agent to install. */
export interface AgentPackage {
  readonly name: string
  readonly domain: number
  /** Names and PMIDs; a subtree whose names come and go has the PMID of a dynamic root. */
  readonly names: readonly (readonly [name: string, id: Pmid])[]
  readonly help: readonly HelpEntry[]
  /** Folder with pmlogconf, pmieconf and views, which are installed with the agent; undefined without such a folder. */
  readonly extrasDir: string | undefined
  /** The text after name and domain in pmcd.conf. */
  readonly rest: string
}

/** The options of pmda-install. */
export interface InstallRequest {
  /** Name of an agent of this package, or path of a module. */
  readonly agent: string
  readonly style: AgentTransport
  readonly domain: number | undefined
  /** TCP port of style inet. */
  readonly port: number
  /** bin of this package. */
  readonly binDir: string
  readonly variables: Variables
}

/** Finds and opens the agent. Rejects with PM_ERR_GENERIC if the agent is unknown or does not support the style. */
export async function resolveAgent(wish: InstallRequest): Promise<AgentPackage> {
  // Imported late, as it loads all agents.
  const { isAgentModule, loadAgent } = await import('../../../pmcd/agent-module.ts')
  const isModule = isAgentModule(wish.agent)
  const definition = await loadAgent(
    isModule ? { kind: 'module', path: wish.agent, entry: 'agent' } : { kind: 'builtin', name: wish.agent },
  )
  const { name } = definition
  const domain = wish.domain ?? definition.domain
  const source = openAgent(definition, { domain, env: wish.variables })
  try {
    const names = [...source.names()]
    if (names.length === 0) throw new PcpError('PM_ERR_GENERIC', `Agent "${name}" has no metrics`)
    return {
      name,
      domain,
      names,
      help: await helpOf(source, names),
      extrasDir: extrasOf(isModule ? dirname(wish.agent) : join(wish.binDir, '..', 'share', 'agents', name)),
      rest: isModule ? moduleLine(wish, name) : await builtinLine(wish, name, domain),
    }
  } finally {
    await source.close()
  }
}

function extrasOf(dir: string): string | undefined {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? dir : undefined
}

/** Returns the help texts of metrics, for tools that read help files. Metrics without a text are left out. */
async function helpOf(source: AgentSource, names: AgentPackage['names']): Promise<readonly HelpEntry[]> {
  const ask = { requester: ANONYMOUS }
  const entries: HelpEntry[] = []
  const seen = new Set<Pmid>()
  for (const [name, id] of names) {
    if (isDynamicRoot(id) || seen.has(id)) continue
    seen.add(id)
    const [oneline, help] = await Promise.allSettled([
      source.text({ kind: 'metric', id, level: 'oneline' }, ask),
      source.text({ kind: 'metric', id, level: 'help' }, ask),
    ])
    if (oneline.status === 'rejected' && help.status === 'rejected') continue
    const text = (part: PromiseSettledResult<string>): string =>
      bytesOf(part.status === 'fulfilled' ? part.value : '')
    entries.push({ kind: 'metric', id, name, oneline: text(oneline), help: text(help) })
  }
  return entries
}

/** Help files store one byte a character. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

async function builtinLine(wish: InstallRequest, name: string, domain: number): Promise<string> {
  const { AGENTS } = await import('../../../agents/registry.ts')
  const { dso } = AGENTS.find((agent) => agent.name === name)!
  const path = join(wish.variables['PCP_PMDAS_DIR']!, name, dso.file)
  if (wish.style === 'dso') return `dso\t${dso.entry}\t${path}`
  if (wish.style === 'worker') return `dso\tworker:${dso.entry}\t${path}`
  return daemonLine(wish, name, join(wish.binDir, `pmda${name}`), domain)
}

function moduleLine(wish: InstallRequest, name: string): string {
  if (wish.style === 'dso') return `dso\tagent\t${wish.agent}`
  if (wish.style === 'worker') return `dso\tworker:agent\t${wish.agent}`
  const program = join(dirname(wish.agent), `pmda${name}${extname(wish.agent)}`)
  if (statSync(program, { throwIfNoEntry: false }) === undefined)
    throw new PcpError(
      'PM_ERR_GENERIC',
      `There is no program ${basename(program)} beside ${wish.agent} to run it as a daemon: write one with runDaemon, or install it with -s dso`,
    )
  return daemonLine(wish, name, program, wish.domain)
}

/** Names node by its absolute path, as the collector's PATH may not include it. */
function daemonLine(wish: InstallRequest, name: string, program: string, domain: number | undefined): string {
  const command = `${process.execPath} ${program}${domain === undefined ? '' : ` -d ${domain}`}`
  switch (wish.style) {
    case 'unix': {
      const path = join(tmpDirOf(wish.variables), `pmda${name}.socket`)
      return `socket\tunix\t${path}\t${command} -u ${path}`
    }
    case 'inet':
      return `socket\tinet\t${wish.port}\t${command} -i ${wish.port}`
    default:
      return `pipe\tbinary\t${command}`
  }
}

/** A file for another part of PCP that comes with an agent: its source and where it is installed. */
export interface ExtraFile {
  readonly from: string
  readonly to: string
}

/** Lists the files of an agent's folders pmlogconf, pmieconf and views, with their destinations. */
export function extraFiles({ name, extrasDir }: AgentPackage, variables: Variables): readonly ExtraFile[] {
  if (extrasDir === undefined) return []
  const config = join(variables['PCP_VAR_DIR']!, 'config')
  return [
    { folder: 'pmlogconf', to: join(config, 'pmlogconf', name) },
    { folder: 'pmieconf', to: join(config, 'pmieconf', name) },
    { folder: 'views', to: join(config, 'pmchart') },
  ].flatMap(({ folder, to }) => {
    const from = join(extrasDir, folder)
    return filesIn(from).map((file) => ({ from: join(from, file), to: join(to, file) }))
  })
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
