/** How contexts are made, and what they may be asked. docs/pmapi.md */
import type { Credentials, MetricSource } from '../model/source.ts'
import type { PduCounters } from '../net/counters.ts'
import type { ArchiveControl } from './archive-control.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, Context } from './context.ts'
import type { DerivedSetup } from './derived.ts'

/** How a context sees its source. */
export interface ContextOptions {
  /** Name of the source's host when the source does not tell. */
  readonly hostname?: string
  /** Container to look into. */
  readonly container?: string
  /** Who asks, where the source is in this process and cannot know otherwise. */
  readonly credentials?: Credentials
  /** What `sample` keeps time by; tests give their own. */
  readonly clock?: Clock
  /** PDUs exchanged with the source, where it is at the other end of a connection. */
  readonly counters?: PduCounters
  /** The archive that the source answers from. */
  readonly archive?: ArchiveControl
  /** Makes another context on the same source at the same place. */
  readonly dup?: () => Context
  /** Derived metrics it has from the start; default: what `registerDerived` has defined so far. */
  readonly derived?: () => DerivedSetup
  /** Opens the source afresh; without it there is nothing to reconnect to. It must settle once its signal is aborted. */
  readonly reopen?: (signal?: AbortSignal) => Promise<MetricSource>
  /** Reconnect automatically when the source is lost. Default false. */
  readonly reconnect?: boolean
  /** Seconds to wait after the first, second... failed attempt to reconnect; the last one repeats. Chance adds up to half. */
  readonly reconnectTimeouts?: readonly number[]
  /** Chance for those delays, from 0 up to 1; tests give their own. Default Math.random. */
  readonly random?: () => number
}

/** Help text options. */
export interface TextOptions extends CallOptions {
  /** One line, or the full help, which is the default. */
  readonly level?: 'oneline' | 'help'
  /** Do not fall back to the one line text where there is no full help. */
  readonly direct?: boolean
}
