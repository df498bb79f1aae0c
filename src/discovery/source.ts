/** Sources of hosts. A new source is a file in `sources` and a row in `registry.ts`. */
import type { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import type { DiscoveredHost } from './host.ts'

/** Receives the hosts of a source. */
export interface HostSink {
  /** All hosts that are there now. */
  update(hosts: readonly DiscoveredHost[]): void
  /** The source could not look; hosts of the last update remain. */
  failed(error: PcpError): void
}

/** A set of hosts that changes over time. */
export interface HostSource {
  /** Reports hosts until aborted. Does not reject. */
  watch(sink: HostSink, signal: AbortSignal): Promise<void>
}

/** Settings of a source's line. */
export interface SourceSettings {
  /** Longest time in milliseconds between two looks. */
  readonly refreshMs: number
  /** Port of hosts without one. */
  readonly port: number
  /** Other options of the line, by name. */
  readonly options: Readonly<Record<string, string>>
}

/** Environment of sources. */
export interface SourceIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  /** Variables of pcp.conf. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Logs problems of single hosts. */
  readonly say: (text: string) => void
}

/** A kind of source. */
export interface SourceKind {
  /** Before the colon: `dns`. */
  readonly name: string
  /** What follows the colon, for messages. */
  readonly argument: string
  readonly refreshMs: number
  /** How long a host may be missing before it counts as gone, in milliseconds. */
  readonly graceMs: number
  /** Names of options besides those of all sources. */
  readonly options: readonly string[]
  /** Throws EINVAL for an invalid argument or option. */
  open(argument: string, settings: SourceSettings, io: SourceIo): HostSource
}
