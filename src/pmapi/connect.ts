/** Contexts on collectors. pmNewContext(3), docs/reference/client-library.md */
import { PcpError } from '../model/errors.ts'
import type { MetricSource } from '../model/source.ts'
import { HostSource } from '../net/host-source.ts'
import { type Env, type HostSpec, parseHostSpec } from '../net/host-spec.ts'
import { withLocalNames } from '../pmns/local-names.ts'
import type { Pmns } from '../pmns/tree.ts'
import type { ReplyLimits } from '../wire/reply-limits.ts'
import type { Clock } from './clock.ts'
import { Context } from './context.ts'
import { type DerivedSetup, derivedSetup } from './derived.ts'
import { settingsOf } from './settings.ts'

/** Options for automatic reconnecting. */
export interface ReconnectOptions {
  /**
   * Seconds to wait after the loss and after each failed attempt; the last delay repeats, and up to half is added at
   * random. Default: PMCD_RECONNECT_TIMEOUT, or 1, 2, 5, 10, 20, 40, 80.
   */
  readonly delays?: readonly number[]
}

/** Options of `connect`. */
export interface ConnectOptions {
  /**
   * Environment; default: that of this process. Provides PMCD_PORT, PMCD_CONNECT_TIMEOUT..., and overrides pcp.conf
   * (PCP_CONF).
   */
  readonly env?: Env
  /** Cancels connecting. */
  readonly signal?: AbortSignal
  /** Container whose values to report. */
  readonly container?: string
  /** Replaces the metric names of the collector. */
  readonly names?: Pmns
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** Clock used by `sample` and reconnecting; replaced in tests. */
  readonly clock?: Clock
  /**
   * Reconnect automatically after losing the collector, until the context is closed. Calls fail with the reason meanwhile;
   * `sample` and `table` yield one row with that reason in `away`, then continue. Default: only `reconnect()` reconnects.
   */
  readonly reconnect?: boolean | ReconnectOptions
  /** Limit on requests without a reply; further requests fail with EAGAIN. Default 65,536. */
  readonly maxRequests?: number
  /**
   * Limits of each reply: bytes of a PDU (default 64 MiB), items (values, names, instances...; 1,000,000) and bytes of a
   * text (1 MiB). A request whose reply exceeds them fails with PM_ERR_TOOBIG; a PDU that is too long ends the connection.
   * PCP_REPLY_MB and PCP_REPLY_ITEMS set them for a process.
   */
  readonly replyLimits?: Partial<ReplyLimits>
}

/**
 * Connects to a collector: `host`, `host:port`, `unix:/path`, or `local:`, the default, for the one on this host, which is
 * found as docs/decisions/discovery.md describes. Close the context when done. Throws PcpError: ECONNREFUSED, ETIMEDOUT, PM_ERR_PERMISSION, PM_ERR_CONNLIMIT...
 *
 * @example
 * const pcp = await connect('db1.example.com')
 * const row = await pcp.values(['kernel.all.load', 'hinv.ncpu'])
 * console.log(row.value('hinv.ncpu'), row.value('kernel.all.load', '1 minute'))
 * await pcp.close()
 *
 * @see pmNewContext(3)
 */
export async function connect(
  host: string | HostSpec = 'local:',
  options: ConnectOptions = {},
): Promise<Context> {
  const { container, names, clock, signal, reconnect = false, maxRequests, replyLimits } = options
  const given = settingsOf(options.env)
  const { delays = variableDelays(given) } = typeof reconnect === 'boolean' ? {} : reconnect
  if (!delays.every((seconds) => seconds > 0 && Number.isFinite(seconds)))
    throw new PcpError(
      'PM_ERR_ARG',
      `Delays between attempts to reconnect must be positive: ${delays.join(', ')}`,
    )
  if (maxRequests !== undefined && !(maxRequests >= 1))
    throw new PcpError('PM_ERR_ARG', `maxRequests must be at least 1: ${maxRequests}`)
  const env = container === undefined ? given : { ...given, PCP_CONTAINER: container }
  const spec = typeof host === 'string' ? parseHostSpec(host, env) : host
  let runDir: string | undefined
  const dial = (giveUp?: AbortSignal): Promise<HostSource> =>
    HostSource.connect(spec, {
      env,
      runDir,
      ...(giveUp === undefined ? {} : { signal: giveUp }),
      ...(maxRequests === undefined ? {} : { maxRequests }),
      ...(replyLimits === undefined ? {} : { replyLimits }),
    })
  const named = (source: MetricSource): MetricSource =>
    names === undefined ? source : withLocalNames(source, names)
  const source = await dial(signal)
  runDir = source.runDir
  return Context.over(named(source), {
    hostname: spec.scheme === 'unix' || spec.scheme === 'local' ? 'localhost' : (spec.hosts[0]?.name ?? ''),
    counters: source.counters,
    derived: options.derived ?? (() => derivedSetup(env)),
    reopen: async (again) => named(await dial(again)),
    reconnect: reconnect !== false,
    reconnectTimeouts: delays,
    ...(container === undefined ? {} : { container }),
    ...(clock === undefined ? {} : { clock }),
  })
}

/** Returns the seconds in PMCD_RECONNECT_TIMEOUT; invalid text is ignored. */
function variableDelays(env: Env): readonly number[] {
  const steps = (env['PMCD_RECONNECT_TIMEOUT'] ?? '').split(',').map(Number)
  return steps.filter((step) => step > 0 && Number.isFinite(step))
}
