/** Services for routes, one of each per server. docs/reference/pmproxy.md */
import type { ByteBudget } from '../base/byte-budget.ts'
import type { SeriesStore } from '../series/store.ts'
import type { Log } from '../sys/log.ts'
import type { ArchiveThreads } from './archive-threads.ts'
import type { ArchiveRoots } from './archives.ts'
import type { ProxyConfig } from './config.ts'
import type { WebContexts } from './contexts.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { LiveFleet } from './fleet/live-fleet.ts'
import type { UnreadLimit } from './http/unread.ts'
import type { ServedKeys } from './keys/series.ts'
import type { KnownExpressions } from './known-expressions.ts'
import type { Limits } from './limits.ts'
import type { Feeds } from './live/feeds.ts'
import type { PushService } from './logger/senders.ts'
import type { NameSearch } from './name-search.ts'
import type { Redaction } from './redaction.ts'
import type { RefusedHosts } from './refused-hosts.ts'
import type { RequestLimiter } from './request-limiter.ts'
import type { Statistics } from './statistics.ts'
import type { TimeControlServer } from './time/server.ts'

/** The parts of a server that routes use. */
export interface Services {
  readonly config: ProxyConfig
  /** Ports of collectors named without one. */
  readonly collectorPorts: readonly number[]
  readonly contexts: WebContexts
  readonly archives: ArchiveRoots
  /** Series of a Prometheus server, or of the archives for this thread. */
  readonly series: SeriesStore
  /** Hosts of the archives, for this thread. */
  readonly fleet: Fleet
  /** Hosts without archives. */
  readonly liveFleet: LiveFleet
  /** Series of a key server; undefined without one. */
  readonly keys: ServedKeys | undefined
  readonly expressions: KnownExpressions
  readonly feeds: Feeds
  readonly search: NameSearch
  readonly statistics: Statistics
  /** Hides servers and directories in messages for clients. */
  readonly redaction: Redaction
  readonly log: Log
  readonly limits: Limits
  /** Key that proves that a request is from the user who started this server, if there is one. */
  readonly ownerKey: string | undefined
  /** Memory for requests in progress and for live pages. */
  readonly budget: ByteBudget
  /** Limits page requests that read archives. */
  readonly archiveGate: RequestLimiter
  /** Threads that read archives for the page; undefined: this thread reads them. */
  readonly archiveThreads: ArchiveThreads | undefined
  /** Unread large responses. */
  readonly unread: UnreadLimit
  /** Logs hosts in requests that are not known to be this machine. */
  readonly refusedHosts: RefusedHosts
  /** Receives pushed archives, if that is enabled. */
  readonly push: PushService | undefined
  /** Clock for programs; undefined if it is disabled or no port is free. */
  readonly time: TimeControlServer | undefined
}
