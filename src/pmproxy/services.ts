/** What routes work with: one of each a server. docs/pmproxy.md */
import type { ByteBudget } from '../base/byte-budget.ts'
import type { Log } from '../sys/log.ts'
import type { ArchiveThreads } from './archive-threads.ts'
import type { ArchiveRoots } from './archives.ts'
import type { ProxyConfig } from './config.ts'
import type { WebContexts } from './contexts.ts'
import type { Gate } from './gate.ts'
import type { Unread } from './http/unread.ts'
import type { Limits } from './limits.ts'
import type { Feeds } from './live/feeds.ts'
import type { NameSearch } from './name-search.ts'
import type { RefusedHosts } from './refused-hosts.ts'
import type { Statistics } from './statistics.ts'
import type { TimeControlServer } from './time/server.ts'

/** The parts of a server that routes need. */
export interface Services {
  readonly config: ProxyConfig
  /** Ports of collectors that are named without one. */
  readonly collectorPorts: readonly number[]
  readonly contexts: WebContexts
  readonly archives: ArchiveRoots
  readonly feeds: Feeds
  readonly search: NameSearch
  readonly statistics: Statistics
  readonly log: Log
  readonly limits: Limits
  /** Proves that a request is from the user who started this server; undefined: nothing does. */
  readonly ownerKey: string | undefined
  /** Memory of requests under way and of live pages. */
  readonly budget: ByteBudget
  /** Requests of the page that have an archive open. */
  readonly archiveGate: Gate
  /** Read archives for the page; undefined: this thread does. */
  readonly archiveThreads: ArchiveThreads | undefined
  /** Answers that wait for their readers. */
  readonly unread: Unread
  /** Hosts in requests that are not known to be this machine. */
  readonly refusedHosts: RefusedHosts
  /** What programs follow; undefined when it is not wanted, or no port is free. */
  readonly time: TimeControlServer | undefined
}
