/** Agents as the user names them: one of this package, or a JavaScript module that exports one. docs/agents.md */
import { pathToFileURL } from 'node:url'
import { AGENTS } from '../agents/registry.ts'
import { PcpError } from '../model/errors.ts'
import type { AgentDefinition } from '../pmda/define-agent.ts'

/** Where the definition of an agent is found. A thread is told this: it can be cloned. */
export type AgentPlace =
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'module'; readonly path: string; readonly entry: string }

/** Is this file a module that we load, and not a shared object that an agent of ours stands in for? */
export function isAgentModule(path: string): boolean {
  return /\.[cm]?js$/.test(path)
}

/** Loads the definition. PM_ERR_GENERIC when there is no such agent; otherwise what loading the module throws. */
export async function loadAgent(place: AgentPlace): Promise<AgentDefinition> {
  if (place.kind === 'module') return loadModule(place.path, place.entry)
  const found = AGENTS.find(({ name }) => name === place.name)
  if (found === undefined) throw new PcpError('PM_ERR_GENERIC', `No agent is called "${place.name}"`)
  return found.load()
}

async function loadModule(path: string, entry: string): Promise<AgentDefinition> {
  const exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  // Of a CommonJS module only the default export is certain to be seen.
  const { default: whole } = exported
  const inside =
    typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>)[entry] : undefined
  const definition = exported[entry] ?? inside
  if (!isDefinition(definition))
    throw new PcpError('PM_ERR_GENERIC', `${path} exports no agent "${entry}": make one with defineAgent`)
  return definition
}

/** The agent may have been made by another copy of the toolkit: its shape counts. */
function isDefinition(value: unknown): value is AgentDefinition {
  if (typeof value !== 'object' || value === null) return false
  const { name, open } = value as Partial<AgentDefinition>
  return typeof name === 'string' && typeof open === 'function'
}
