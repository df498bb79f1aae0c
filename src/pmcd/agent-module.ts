/** Loads agents: those of this package, and JavaScript modules that export one. docs/reference/agent-toolkit.md */
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { AGENTS } from '../agents/registry.ts'
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { AgentDefinition } from '../pmda/define-agent.ts'
import { provideOwnPackage } from './own-package.ts'

/** Location of an agent's definition; plain data that can be sent to a thread. */
export type AgentLocation =
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'module'; readonly path: string; readonly entry: string }

/** Returns whether a file is a module of JavaScript or TypeScript, as opposed to a shared object that one of our agents replaces. */
export function isAgentModule(path: string): boolean {
  return /\.[cm]?[jt]s$/.test(path)
}

/**
 * Loads the definition. PM_ERR_GENERIC for an unknown agent; EBUSY while the module is still being loaded for a caller
 * whose `signal` was aborted; otherwise the error of loading the module.
 */
export async function loadAgent(place: AgentLocation, signal?: AbortSignal): Promise<AgentDefinition> {
  if (place.kind === 'module') return loadModule(place.path, place.entry, signal)
  const found = AGENTS.find(({ name }) => name === place.name)
  if (found === undefined) throw unknownAgent(place.name)
  return found.load()
}

function unknownAgent(name: string): PcpError {
  return new PcpError(
    'PM_ERR_GENERIC',
    name === 'pmcd'
      ? 'Agent "pmcd" cannot be installed: it is part of every collector and reports about it'
      : `No agent is called "${name}"; use one of ${AGENTS.map((agent) => agent.name).join(', ')}`,
  )
}

type Exports = Readonly<Record<string, unknown>>

/** An attempt to load a module. */
interface Load {
  /** Modification time of the file. */
  readonly changed: string
  readonly exports: Promise<Exports>
  state: 'loading' | 'given up' | 'loaded' | 'failed'
}

/** Latest attempt by path. */
const loads = new Map<string, Load>()

/**
 * Imports a module. Node caches the outcome per URL forever, including a failure or a top-level await that never ends;
 * a changed file is imported with a different URL. The old module then stays in memory, as does every module that it imports.
 */
function importModule(path: string, signal: AbortSignal | undefined): Promise<Exports> {
  provideOwnPackage(path)
  const { href } = pathToFileURL(path)
  const changed = changeTime(path)
  const former = loads.get(path)
  if (former?.changed === changed && (former.state === 'loaded' || former.state === 'loading'))
    return former.exports
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
  if (/\.[cm]?ts$/.test(path) && !('typescript' in process.features))
    throw new PcpError(
      'ENOSYS',
      `Node ${process.versions.node} does not run TypeScript: compile ${path} to JavaScript, or use Node 22.18 or newer`,
    )
  const exported = await importModule(path, signal).catch((error: unknown) => {
    throw PcpError.from(error, `Cannot load ${path}`)
  })
  // For CommonJS modules only the default export is guaranteed.
  const { default: whole } = exported
  const inside =
    typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>)[entry] : undefined
  const definition = exported[entry] ?? inside
  if (!isDefinition(definition))
    throw new PcpError('PM_ERR_GENERIC', `${path} exports no agent "${entry}": make one with defineAgent`)
  return definition
}

/** Checks the shape only: the agent may come from another copy of the toolkit. */
function isDefinition(value: unknown): value is AgentDefinition {
  if (typeof value !== 'object' || value === null) return false
  const { name, open } = value as Partial<AgentDefinition>
  return typeof name === 'string' && typeof open === 'function'
}
