/** Collectors as hosts of rules, connected to on demand. docs/reference/pmie.md */
import { PcpError } from '../model/errors.ts'
import type { Context } from '../pmapi/context.ts'
import type { RuleHost } from '../rules/host.ts'
import type { Hosts } from '../rules/hosts.ts'
import type { Reporter } from '../rules/problems.ts'

/** Connects to a collector; undefined for the default one. */
export type OpenHost = (host: string | undefined, signal: AbortSignal) => Promise<Context>

/** PCP's texts for errors of connecting to a collector. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not respond',
  PM_ERR_PERMISSION: 'does not permit delivery of metrics to the local host',
  PM_ERR_CONNLIMIT: 'has exceeded its connection limit',
}

/** A host whose context is set on connecting and cleared on a loss. */
export interface LiveHost extends RuleHost {
  name: string
  context: Context | undefined
}

/** Collectors of a run. */
export interface LiveHosts extends Hosts {
  readonly first: LiveHost
}

/** Opens collectors; `first`, or the default one, is the host of metrics without an explicit host. */
export async function liveHosts(
  first: string | undefined,
  open: OpenHost,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<LiveHosts> {
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
