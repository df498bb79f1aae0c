/** Contexts on collectors. pmNewContext(3), docs/pmapi.md */
import type { MetricSource } from '../model/source.ts'
import { HostSource } from '../net/host-source.ts'
import { type Env, type HostSpec, parseHostSpec } from '../net/host-spec.ts'
import type { Pmns } from '../pmns/tree.ts'
import type { Clock } from './clock.ts'
import { Context } from './context.ts'
import { type DerivedSetup, derivedSetup } from './derived.ts'
import { withLocalNames } from './local-names.ts'

/** How to connect. */
export interface ConnectOptions {
  /** Default: the environment of this process. PMCD_PORT, PMCD_CONNECT_TIMEOUT... are looked at. */
  readonly env?: Env
  /** Gives up connecting. */
  readonly signal?: AbortSignal
  /** Container to look into. */
  readonly container?: string
  /** Take metric names from here instead of from the collector. */
  readonly names?: Pmns
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** What `sample` keeps time by; tests give their own. */
  readonly clock?: Clock
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
  const { container, names, clock, signal } = options
  const given = options.env ?? process.env
  const env = container === undefined ? given : { ...given, PCP_CONTAINER: container }
  const spec = typeof host === 'string' ? parseHostSpec(host, env) : host
  const dial = (given?: AbortSignal): Promise<HostSource> =>
    HostSource.connect(spec, given === undefined ? { env } : { env, signal: given })
  const named = (source: MetricSource): MetricSource =>
    names === undefined ? source : withLocalNames(source, names)
  const source = await dial(signal)
  return Context.over(named(source), {
    hostname: spec.scheme === 'unix' || spec.scheme === 'local' ? 'localhost' : (spec.hosts[0]?.name ?? ''),
    counters: source.counters,
    derived: options.derived ?? (() => derivedSetup(env)),
    reopen: async (again) => named(await dial(again)),
    reconnectTimeouts: (env['PMCD_RECONNECT_TIMEOUT'] ?? '')
      .split(',')
      .map(Number)
      .filter((step) => step > 0),
    ...(container === undefined ? {} : { container }),
    ...(clock === undefined ? {} : { clock }),
  })
}
