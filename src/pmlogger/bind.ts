/** Resolves the names of a configuration to metrics and instances of a collector. docs/reference/pmlogger.md */
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import type { Context } from '../pmapi/context.ts'
import type { LogStatement, MetricRequest } from './config.ts'
import { LoggedMetric } from './logged-metric.ts'
import type { InternPool } from './pool.ts'
import type { LoggingState, Refusal, StateRequest } from './states.ts'

/** Names looked up per request. */
const BATCH = 200

/** Where `bind` puts the metrics of a configuration. */
export interface BindTarget {
  /** By PMID; metrics are added. */
  readonly metrics: Map<Pmid, LoggedMetric>
  readonly pool: InternPool
  /** Interval of `default`. */
  readonly defaultDeltaMs: number
  /** Logs what could not be resolved, with PCP's text. */
  readonly warn: (text: string) => void
}

/** A request of the configuration with its statement. */
export interface ConfiguredRequest {
  readonly statement: LogStatement
  readonly request: MetricRequest
}

interface NamedRequest extends ConfiguredRequest {
  readonly name: string
  readonly pmid: Pmid
}

/** Returns all requests of a configuration, in order. */
export function configuredRequests(statements: readonly LogStatement[]): ConfiguredRequest[] {
  return statements.flatMap((statement) => statement.metrics.map((request) => ({ statement, request })))
}

/**
 * Looks up the requested metrics and applies the requests to their states. Warns of missing metrics and instances. Returns the
 * requests for names without metrics now: metrics may appear below those names later.
 */
export async function bind(
  context: Context,
  wishes: readonly ConfiguredRequest[],
  target: BindTarget,
): Promise<ConfiguredRequest[]> {
  const names = [...new Set(wishes.map(({ request }) => request.name))]
  const ids = await context.lookupNames(names)
  const byName = new Map(names.map((name, i) => [name, ids[i]!]))
  const roots: ConfiguredRequest[] = []
  const found: NamedRequest[] = []
  for (const wish of wishes) {
    const { name } = wish.request
    const id = byName.get(name)!
    if (!isError(id)) {
      found.push({ ...wish, name, pmid: id })
      continue
    }
    roots.push(wish)
    found.push(...(await below(context, wish, id, target)))
  }
  await apply(context, found, target)
  return roots
}

/** Returns the metrics below a non-leaf name. */
async function below(
  context: Context,
  wish: ConfiguredRequest,
  error: PcpError,
  target: BindTarget,
): Promise<NamedRequest[]> {
  const { name } = wish.request
  let problem = error
  // PCP's collector reports PM_ERR_NAME for a node that exists only as the root of an agent's dynamic names.
  if (error.code === 'PM_ERR_NONLEAF' || error.code === 'PM_ERR_NAME') {
    try {
      const names = await context.traverse(name)
      const ids = await context.lookupNames(names)
      return names.flatMap((leaf, i): NamedRequest[] => {
        const id = ids[i]!
        return isError(id) ? [] : [{ ...wish, name: leaf, pmid: id }]
      })
    } catch (traversal) {
      problem = PcpError.from(traversal)
    }
  }
  target.warn(
    `${headOf(wish)}\nProblem with lookup for metric "${name}" ... logging not activated\nReason: ${problem.text}`,
  )
  return []
}

async function apply(context: Context, found: readonly NamedRequest[], target: BindTarget): Promise<void> {
  const { metrics, pool } = target
  const unknown = found.filter(({ pmid }) => !metrics.has(pmid))
  const descs = await context.descs(unknown.map(({ pmid }) => pmid))
  unknown.forEach((item, i) => {
    const desc = descs[i]!
    if (isError(desc)) {
      target.warn(
        `${headOf(item)}\nDescription unavailable for metric "${item.name}" ... not logged\nReason: ${desc.text}`,
      )
    } else if (!metrics.has(item.pmid)) {
      metrics.set(item.pmid, new LoggedMetric(pool.text(item.name), pool.desc(desc)))
    }
  })
  for (const item of found) {
    const metric = metrics.get(item.pmid)
    if (metric === undefined) continue
    const instances = await instancesFor(context, item, metric, target)
    if (instances !== 'none') applyTo(metric, instances, item, target)
  }
}

function applyTo(
  metric: LoggedMetric,
  instances: readonly number[] | undefined,
  item: NamedRequest,
  target: BindTarget,
): void {
  const { control, state, deltaMs = target.defaultDeltaMs } = item.statement
  const request: StateRequest = { control, state, deltaMs }
  const refusals =
    instances === undefined
      ? [metric.states.requestAdditionally(request)]
      : instances.map((inst) => metric.states.requestOne(inst, request))
  for (const refusal of refusals)
    if (refusal !== undefined) target.warn(`${headOf(item)}\n${refusalText(metric, request, refusal, item)}`)
}

/** Returns the ids of the requested instances; undefined for all, 'none' if none of them exists. */
async function instancesFor(
  context: Context,
  item: NamedRequest,
  { name, desc }: LoggedMetric,
  target: BindTarget,
): Promise<readonly number[] | undefined | 'none'> {
  const wanted = item.request.instances
  if (wanted.length === 0) return undefined
  const { indom } = desc
  if (indom === PM_INDOM_NULL) {
    target.warn(`${headOf(item)}\nMetric "${name}" has no instances ... not logged`)
    return 'none'
  }
  const ids: number[] = []
  for (let first = 0; first < wanted.length; first += BATCH) {
    const part = wanted.slice(first, first + BATCH)
    const outcomes = await Promise.all(part.map((instance) => instanceOf(context, indom, instance)))
    for (const [i, outcome] of outcomes.entries()) {
      if (!isError(outcome)) ids.push(outcome)
      else if (outcome.code === 'PM_ERR_INST')
        target.warn(`${headOf(item)}\nInstance "${part[i]}" is not defined for the metric "${name}"`)
      else {
        target.warn(
          `${headOf(item)}\nInstance domain of metric "${name}" unavailable ... not logged\nReason: ${outcome.text}`,
        )
        return 'none'
      }
    }
  }
  return ids.length === 0 ? 'none' : ids
}

/** Looks an instance up by id or name at the collector: agents may know instances that they do not list. */
async function instanceOf(
  context: Context,
  indom: Indom,
  instance: string | number,
): Promise<Outcome<number>> {
  try {
    if (typeof instance === 'string') return await context.instanceId(indom, instance)
    await context.instanceName(indom, instance)
    return instance
  } catch (error) {
    return PcpError.from(error)
  }
}

function headOf({ request }: ConfiguredRequest): string {
  return `Warning [${request.place.file}, line ${request.place.line}]`
}

function refusalText(
  metric: LoggedMetric,
  request: StateRequest,
  refusal: Refusal,
  { request: wish }: ConfiguredRequest,
): string {
  const { inst, mode } = refusal
  const written = wish.instances.find((instance) => typeof instance === 'string' || instance === inst) ?? inst
  const instance = inst === undefined ? '' : ` and instance "${written}"`
  const conflict =
    mode === undefined
      ? ''
      : `\nRequest for (${request.control}) ${request.state.toUpperCase()} conflicts with current ${modeText(mode)} state`
  return `Incompatible request for metric "${metric.name}"${instance}${conflict}`
}

function modeText({ isMandatory, isOn }: LoggingState): string {
  return `(${isMandatory ? 'mandatory' : 'advisory'}) ${isOn ? 'ON' : 'OFF'}`
}
