/** The agent that is installed or removed: one of this package, or a module of the user's. docs/agents.md */

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
export type Style = 'pipe' | 'dso' | 'worker' | 'unix' | 'inet'

/** What is known of an agent before it is installed. */
export interface Subject {
  readonly name: string
  readonly domain: number
  /** Names and PMIDs; a subtree whose names come and go is one with the PMID of a dynamic root. */
  readonly names: readonly (readonly [name: string, id: Pmid])[]
  readonly help: readonly HelpEntry[]
  /** Where it has pmlogconf, pmieconf and views, which come and go with it; undefined where there is no such folder. */
  readonly extrasDir: string | undefined
  /** What follows name and domain in pmcd.conf. */
  readonly rest: string
}

/** What was asked for. */
export interface Wish {
  /** Name of an agent of this package, or path of a module. */
  readonly agent: string
  readonly style: Style
  readonly domain: number | undefined
  /** TCP port of style inet. */
  readonly port: number
  /** bin of this package. */
  readonly binDir: string
  readonly variables: Variables
}

/** Finds and opens the agent. PM_ERR_GENERIC when there is no such agent, or it cannot be had in this style. */
export async function subjectOf(wish: Wish): Promise<Subject> {
  // Loaded for those who install one: all agents come with them.
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

/** The texts of the table, for tools that read help files. What has none is left out. */
async function helpOf(source: AgentSource, names: Subject['names']): Promise<readonly HelpEntry[]> {
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

/** Help files hold one character a byte. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

async function builtinLine(wish: Wish, name: string, domain: number): Promise<string> {
  const { AGENTS } = await import('../../../agents/registry.ts')
  const { dso } = AGENTS.find((agent) => agent.name === name)!
  const path = join(wish.variables['PCP_PMDAS_DIR']!, name, dso.file)
  if (wish.style === 'dso') return `dso\t${dso.entry}\t${path}`
  if (wish.style === 'worker') return `dso\tworker:${dso.entry}\t${path}`
  return daemonLine(wish, name, join(wish.binDir, `pmda${name}`), domain)
}

function moduleLine(wish: Wish, name: string): string {
  if (wish.style === 'dso') return `dso\tagent\t${wish.agent}`
  if (wish.style === 'worker') return `dso\tworker:agent\t${wish.agent}`
  const program = join(dirname(wish.agent), `pmda${name}${extname(wish.agent)}`)
  if (statSync(program, { throwIfNoEntry: false }) === undefined)
    throw new PcpError(
      'PM_ERR_GENERIC',
      `No program ${basename(program)} beside ${wish.agent} runs it as a daemon: write one with runDaemon, or install it with -s dso`,
    )
  return daemonLine(wish, name, program, wish.domain)
}

/** Node is named whole: a collector's path need not lead to it. */
function daemonLine(wish: Wish, name: string, program: string, domain: number | undefined): string {
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

/** What an agent brings for other parts of PCP: folder beside it, and where its files go. */
export interface Extra {
  readonly from: string
  readonly to: string
}

/** Files in an agent's folders pmlogconf, pmieconf and views, and where PCP looks for them. */
export function extraFiles({ name, extrasDir }: Subject, variables: Variables): readonly Extra[] {
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
