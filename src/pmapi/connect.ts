/** Contexts on collectors. pmNewContext(3), docs/pmapi.md */
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

/** How a context reconnects by itself. */
export interface ReconnectOptions {
  /**
   * Seconds to wait after the loss, after the first failed attempt, after the second...; the last one repeats, and chance adds
   * up to half. Default: PMCD_RECONNECT_TIMEOUT, or 1, 2, 5, 10, 20, 40, 80.
   */
  readonly delays?: readonly number[]
}

/** How to connect. */
export interface ConnectOptions {
  /**
   * Default: the environment of this process. It gives PMCD_PORT, PMCD_CONNECT_TIMEOUT..., and overrides pcp.conf, which
   * PCP_CONF names.
   */
  readonly env?: Env
  /** Gives up connecting. */
  readonly signal?: AbortSignal
  /** Container to look into. */
  readonly container?: string
  /** Take metric names from here instead of from the collector. */
  readonly names?: Pmns
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** What `sample` and reconnecting keep time by; tests give their own. */
  readonly clock?: Clock
  /**
   * Reconnect when the collector is lost, until the context is closed. Questions fail with the reason meanwhile; `sample` and
   * `table` give a row whose `away` has it, then rows again. Default: only `reconnect()` connects again.
   */
  readonly reconnect?: boolean | ReconnectOptions
  /** Requests without a reply that there may be: another one fails with EAGAIN. Default 65,536. */
  readonly maxRequests?: number
  /**
   * Limits of each reply: bytes of a PDU (default 64 MiB), items (values, names, instances...; 1,000,000) and bytes of a text (1 MiB). A request whose
   * reply has more fails with PM_ERR_TOOBIG, a longer PDU ends the connection. PCP_REPLY_MB and PCP_REPLY_ITEMS set them for a process.
   */
  readonly replyLimits?: Partial<ReplyLimits>
}

/**
 * Connects to a collector: `host`, `host:port`, `unix:/path`, or `local:`, the default, for the one on this host. Close the
 * context when done. Throws PcpError: ECONNREFUSED, ETIMEDOUT, PM_ERR_PERMISSION, PM_ERR_CONNLIMIT...
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
  const dial = (giveUp?: AbortSignal): Promise<HostSource> =>
    HostSource.connect(spec, {
      env,
      ...(giveUp === undefined ? {} : { signal: giveUp }),
      ...(maxRequests === undefined ? {} : { maxRequests }),
      ...(replyLimits === undefined ? {} : { replyLimits }),
    })
  const named = (source: MetricSource): MetricSource =>
    names === undefined ? source : withLocalNames(source, names)
  const source = await dial(signal)
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

/** Seconds in PMCD_RECONNECT_TIMEOUT; what cannot be read is ignored. */
function variableDelays(env: Env): readonly number[] {
  const steps = (env['PMCD_RECONNECT_TIMEOUT'] ?? '').split(',').map(Number)
  return steps.filter((step) => step > 0 && Number.isFinite(step))
}
