/** The hosts of a run: archives given by name, or collectors that are connected to when a rule asks for them. docs/pmie.md */
import { PcpError } from '../model/errors.ts'
import type { Context } from '../pmapi/context.ts'
import { MeaningError } from './build.ts'
import type { RuleHost } from './host.ts'
import type { Voice } from './problems.ts'

/** Connects to a collector; undefined: the default one. */
export type OpenHost = (host: string | undefined, signal: AbortSignal) => Promise<Context>

/** Where hosts come from. */
export interface Hosts {
  readonly isArchive: boolean
  /** The host that rules are about which name none. */
  readonly first: RuleHost
  /** A host by the name in a rule. Throws MeaningError for one there is no archive of. */
  find(name: string): Promise<RuleHost>
  /** All that were asked for so far. */
  readonly all: readonly RuleHost[]
  close(): Promise<void>
}

/** Archives, each of another host. Throws PcpError when two are of the same host. */
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
      if (found === undefined) throw new MeaningError(`no archive of host ${name}: give it with -a`)
      return found
    },
    close: async () => {
      for (const { context } of all) await context?.close()
    },
  }
}

/** What is said of a collector by the error of connecting to it. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not respond',
  PM_ERR_PERMISSION: 'does not permit delivery of metrics to the local host',
  PM_ERR_CONNLIMIT: 'has exceeded its connection limit',
}

/** A host that a context may come to, and go from. */
export interface LiveHost extends RuleHost {
  name: string
}

/** Collectors; the one named `first`, or the default one, is what rules are about that name none. */
export async function liveHosts(
  first: string | undefined,
  open: OpenHost,
  voice: Voice,
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
      voice.notice('info', `Cannot connect to pmcd ${host.connection}`)
      const state = UNAVAILABLE[PcpError.from(error).code] ?? 'is unreachable'
      voice.say(`pmie: warning - pmcd via ${host.connection} ${state}`)
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

/** Connects, and asks the collector for its name. */
export async function connectHost(host: LiveHost, open: OpenHost, signal: AbortSignal): Promise<void> {
  const context = await open(host.connection === 'local:' ? undefined : host.connection, signal)
  const name = await context.hostname({ signal })
  if (name !== '') host.name = name
  host.context = context
}
