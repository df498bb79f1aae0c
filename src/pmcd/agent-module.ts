/** Agents as the user names them: one of this package, or a JavaScript module that exports one. docs/agents.md */
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { AGENTS } from '../agents/registry.ts'
import { onAbort } from '../base/on-abort.ts'
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

/**
 * Loads the definition. PM_ERR_GENERIC when there is no such agent; EBUSY while the module is still being loaded for a
 * caller whose `signal` was aborted; otherwise what loading the module throws.
 */
export async function loadAgent(place: AgentPlace, signal?: AbortSignal): Promise<AgentDefinition> {
  if (place.kind === 'module') return loadModule(place.path, place.entry, signal)
  const found = AGENTS.find(({ name }) => name === place.name)
  if (found === undefined) throw new PcpError('PM_ERR_GENERIC', `No agent is called "${place.name}"`)
  return found.load()
}

type Exports = Readonly<Record<string, unknown>>

/** One attempt to load a module. */
interface Load {
  /** When its file was last changed. */
  readonly changed: string
  readonly exports: Promise<Exports>
  state: 'loading' | 'given up' | 'loaded' | 'failed'
}

/** The last attempt for each path that a configuration has named. */
const loads = new Map<string, Load>()

/**
 * Imports a module. Node keeps the outcome for a URL for good, also a failure or an await that never ends: after one of these
 * a changed file is imported by another URL.
 */
function importModule(path: string, signal: AbortSignal | undefined): Promise<Exports> {
  const { href } = pathToFileURL(path)
  const changed = changeTime(path)
  const former = loads.get(path)
  if (former?.state === 'loaded') return former.exports
  if (former?.changed === changed && former.state === 'loading') return former.exports
  if (former?.changed === changed && former.state === 'given up')
    return Promise.reject(
      new PcpError('EBUSY', `${path} is still being loaded: an await at its top level does not end`),
    )
  const load: Load = {
    changed,
    exports: import(former === undefined ? href : `${href}?changed=${changed}`) as Promise<Exports>,
    state: 'loading',
  }
  loads.set(path, load)
  const unlink = onAbort(signal, () => {
    load.state = 'given up'
  })
  const end = (state: Load['state']): void => {
    unlink()
    load.state = state
  }
  load.exports.then(
    () => end('loaded'),
    () => end('failed'),
  )
  return load.exports
}

function changeTime(path: string): string {
  return String(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? '')
}

async function loadModule(
  path: string,
  entry: string,
  signal: AbortSignal | undefined,
): Promise<AgentDefinition> {
  const exported = await importModule(path, signal)
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
