/** Hosts of a run: the given archives, or collectors connected to on demand. docs/reference/pmie.md */
import { PcpError } from '../model/errors.ts'
import type { Context } from '../pmapi/context.ts'
import { SemanticError } from './build.ts'
import type { RuleHost } from './host.ts'
import type { Reporter } from './problems.ts'

/** Connects to a collector; undefined for the default one. */
export type OpenHost = (host: string | undefined, signal: AbortSignal) => Promise<Context>

/** Finds hosts by name. */
export interface Hosts {
  readonly isArchive: boolean
  /** Host of metrics without an explicit host. */
  readonly first: RuleHost
  /** Returns the host of a name in a rule. Throws SemanticError if there is no archive of it. */
  find(name: string): Promise<RuleHost>
  /** All hosts used so far. */
  readonly all: readonly RuleHost[]
  close(): Promise<void>
}

/** Opens archives, each of a different host. Throws PcpError if two are of the same host. */
export function archiveHosts(archives: readonly { name: string; context: Context }[]): Hosts {
  const all: RuleHost[] = []
  for (const { name, context } of archives) {
    const host = context.archive!.label.hostname
    const other = all.find((each) => each.name === host)
    if (other !== undefined)
      throw new PcpError(
        'PM_ERR_LOGHOST',
        `Error: archive ${name} not legal - archive ${other.connection} is already open for host ${host}`,
      )
    all.push({ name: host, connection: name, isArchive: true, context })
  }
  return {
    isArchive: true,
    first: all[0]!,
    all,
    find: async (name) => {
      const found = all.find((each) => each.name === name)
      if (found === undefined) throw new SemanticError(`no archive of host ${name}: add one with -a`)
      return found
    },
    close: async () => {
      for (const { context } of all) await context?.close()
    },
  }
}

/** PCP's texts for errors of connecting to a collector. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not respond',
  PM_ERR_PERMISSION: 'does not permit delivery of metrics to the local host',
  PM_ERR_CONNLIMIT: 'has exceeded its connection limit',
}

/** A host whose context is set on connecting and cleared on a loss. */
export interface LiveHost extends RuleHost {
  name: string
}

/** Opens collectors; `first`, or the default one, is the host of metrics without an explicit host. */
export async function liveHosts(
  first: string | undefined,
  open: OpenHost,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<Hosts> {
  const all: LiveHost[] = []
  const add = async (name: string | undefined): Promise<LiveHost> => {
    const host: LiveHost = {
      name: name ?? 'localhost',
      connection: name ?? 'local:',
      isArchive: false,
      context: undefined,
    }
    all.push(host)
    try {
      await connectHost(host, open, signal)
    } catch (error) {
      if (signal.aborted) throw error
      reporter.log('info', `Cannot connect to pmcd ${host.connection}`)
      const state = UNAVAILABLE[PcpError.from(error).code] ?? 'is unreachable'
      reporter.print(`pmie: warning - pmcd via ${host.connection} ${state}`)
    }
    return host
  }
  const defaultHost = await add(first)
  return {
    isArchive: false,
    first: defaultHost,
    all,
    find: async (name) =>
      all.find((each) => each.connection === name || each.name === name) ?? (await add(name)),
    close: async () => {
      for (const { context } of all) await context?.close().catch(() => {})
    },
  }
}

/** Connects and fetches the collector's host name. */
export async function connectHost(host: LiveHost, open: OpenHost, signal: AbortSignal): Promise<void> {
  const context = await open(host.connection === 'local:' ? undefined : host.connection, signal)
  const name = await context.hostname({ signal })
  if (name !== '') host.name = name
  host.context = context
}
