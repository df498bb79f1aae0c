/** The columns of pmdumptext: metrics, instances, units and values. */
import { secondsBetween } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { counterRate, rateUnits } from '../../model/rate.ts'
import { convScale } from '../../model/scale.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_DOUBLE,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  typeStr,
} from '../../model/types.ts'
import { packUnits, unpackUnits } from '../../model/units.ts'
import { extract } from '../../model/value-set.ts'
import type { FetchResult, ValueSet } from '../../model/values.ts'
import { findInstance } from '../../pmapi/instances.ts'
import { type MetricSpec, parseMetricSpec } from '../../pmapi/metric-spec.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { PmdumptextOptions } from './options.ts'
import type { Source, Sources } from './sources.ts'

/** A requested metric, with the divisor of its values. */
export interface Request {
  readonly text: string
  readonly divisor: number
  /** Warning about the line it was read from. */
  readonly warning?: string
}

export interface Column {
  readonly source: Source
  readonly metric: string
  readonly desc: MetricDesc
  /** Undefined for a singular metric. */
  readonly instance: { readonly id: number; readonly name: string } | undefined
  readonly divisor: number
  readonly scaling: Scaling
  /** Cached position of the instance in the last value set; unchanged sets share their `inst` array. */
  readonly lastPosition: { inst: Int32Array | undefined; place: number }
}

/** How a column's numbers are computed. */
export interface Scaling {
  readonly isRate: boolean
  /** A counter of time, shown as utilization. */
  readonly isUtilisation: boolean
  /** Units of the values; of a rate, without the time dimension. */
  readonly units: number
  readonly factor: number
}

/** Options that determine the scaling. */
export type ScalingOptions = Pick<PmdumptextOptions, 'isRaw' | 'isInteractive'>

/** Returns the full name of a column. */
export function columnName({ metric, instance }: Column): string {
  return instance === undefined ? metric : `${metric}["${instance.name}"]`
}

/**
 * Returns the columns of a metric, or of all metrics below a name. Reports an error of one of several metrics to `complain`. Rejects
 * with PcpError with the message to show without any columns.
 */
export async function columnsOf(
  { text, divisor }: Request,
  sources: Sources,
  style: ScalingOptions,
  complain: (problem: PcpError) => void,
  io: ToolIo,
): Promise<Column[]> {
  const spec = specOf(text)
  const source = await sources.of(spec)
  const { context, prefix } = source
  const hasInstances = spec.instances.length > 0
  const names = await context.traverse(spec.metric, io).catch(async (error: unknown) => {
    const hint = await didYouMeanMetric(spec.metric, error, context, io)
    throw failed(hasInstances ? `${prefix}${spec.metric}` : spec.metric, error, hint)
  })
  if (hasInstances && (names.length !== 1 || names[0] !== spec.metric))
    throw failed(`${prefix}${spec.metric}`, new PcpError('PM_ERR_NONLEAF'))
  const columns: Column[] = []
  for (const metric of names) {
    try {
      const desc = await describe(source, metric, io)
      const scaling = scalingOf(desc, style)
      for (const instance of await instancesOf(source, metric, desc, spec.instances, io))
        columns.push({
          source,
          metric,
          desc,
          instance,
          divisor,
          scaling,
          lastPosition: { inst: undefined, place: 0 },
        })
    } catch (error) {
      if (!(error instanceof PcpError) || io.signal.aborted) throw error
      complain(error)
    }
  }
  return columns
}

function specOf(text: string): MetricSpec {
  try {
    return parseMetricSpec(text)
  } catch (error) {
    const { code, message } = PcpError.from(error)
    throw new PcpError(code, `Unable to parse metric spec:\n${message}`, { cause: error })
  }
}

/** Returns a metric's descriptor; rejects if its values cannot be shown. */
async function describe({ context, prefix, name }: Source, metric: string, io: ToolIo): Promise<MetricDesc> {
  const where = `${prefix}${metric}`
  const desc = await context
    .lookupName(metric, io)
    .then((id) => context.desc(id, io))
    .catch((error: unknown) => {
      throw failed(where, error)
    })
  if (desc.type === PM_TYPE_NOSUPPORT)
    throw new PcpError('PM_ERR_TYPE', `${where} is not supported on ${name}`)
  if (desc.type > PM_TYPE_STRING)
    throw new PcpError(
      'PM_ERR_TYPE',
      `${where} has type "${typeStr(desc.type)}", which is not a number or a string`,
    )
  return desc
}

async function instancesOf(
  { context, prefix }: Source,
  metric: string,
  desc: MetricDesc,
  wanted: readonly string[],
  io: ToolIo,
): Promise<(Column['instance'] | undefined)[]> {
  if (wanted.length === 0) {
    if (desc.indom === PM_INDOM_NULL) return [undefined]
    const { archive } = context
    const listed =
      archive === undefined
        ? context.instances(desc.indom, io)
        : (async () => archive.instances(desc.indom))()
    const { ids, names } = await listed.catch((error: unknown) => {
      throw failed(`${prefix}${metric}`, error)
    })
    return ids.map((id, i) => ({ id, name: names[i]! }))
  }
  const found: Column['instance'][] = []
  for (const name of wanted) {
    try {
      const id = await findInstance(context, desc, name)
      if (id === undefined) throw new PcpError('PM_ERR_INST')
      const { archive } = context
      const full =
        archive === undefined
          ? await context.instanceName(desc.indom, id, io)
          : archive.instanceName(desc.indom, id)
      found.push({ id, name: full })
    } catch (error) {
      const { text } = new PcpError('PM_ERR_INST')
      throw new PcpError('PM_ERR_INST', `${prefix}${metric}[${name}]: ${text}`, { cause: error })
    }
  }
  return found
}

function failed(what: string, error: unknown, hint = ''): unknown {
  return error instanceof PcpError
    ? new PcpError(error.code, `${what}: ${error.text}${hint}`, { cause: error })
    : error
}

/** Interactive tables use bytes and plain counts so that suffixes are correct; others use the metric's units. */
function scalingOf({ sem, units, type }: MetricDesc, { isRaw, isInteractive }: ScalingOptions): Scaling {
  const plain: Scaling = { isRate: false, isUtilisation: false, units, factor: 1 }
  if (isRaw || type === PM_TYPE_STRING) return plain
  const isRate = sem === PM_SEM_COUNTER
  if (!isInteractive) return { ...plain, isRate }
  const { dimSpace, dimTime, dimCount } = unpackUnits(units)
  const isPure = (one: number, ...others: number[]): boolean => one === 1 && others.every((dim) => dim === 0)
  if (isRate && isPure(dimTime, dimSpace, dimCount))
    return { isRate, isUtilisation: true, units: 0, factor: rateUnits(units).factor }
  const isScaled = isPure(dimSpace, dimTime, dimCount) || isPure(dimCount, dimSpace, dimTime)
  if (!isScaled) return { ...plain, isRate }
  const to = packUnits({ dimSpace, dimCount })
  return { isRate, isUtilisation: false, units: to, factor: Number(convScale(PM_TYPE_DOUBLE, 1, units, to)) }
}

/** The values of a source at one time, by metric. */
export interface Fetched {
  readonly timestamp: FetchResult['timestamp']
  readonly sets: ReadonlyMap<Pmid, ValueSet>
}

/** Returns the value of a column; undefined if missing. Rates need the previous fetch. */
export function columnValue(
  column: Column,
  now: Fetched | undefined,
  before: Fetched | undefined,
  wraps: boolean,
): number | string | undefined {
  const { desc, divisor, scaling } = column
  const value = readingOf(column, now)
  if (value === undefined || typeof value === 'string') return value
  let number = Number(value)
  if (scaling.isRate) {
    const earlier = readingOf(column, before)
    if (earlier === undefined || typeof earlier === 'string') return undefined
    const elapsed = secondsBetween(before!.timestamp, now!.timestamp)
    const rate = elapsed < 0 ? undefined : counterRate(earlier, value, elapsed, desc.type, wraps)
    if (rate === undefined) return undefined
    number = rate
  }
  number *= scaling.factor
  return divisor === 0 ? number : number / divisor
}

function readingOf(
  { desc, instance, lastPosition }: Column,
  fetched: Fetched | undefined,
): number | bigint | string | undefined {
  const set = fetched?.sets.get(desc.pmid)
  if (set === undefined || set.status <= 0) return undefined
  if (instance !== undefined && set.inst !== lastPosition.inst) {
    lastPosition.inst = set.inst
    lastPosition.place = set.inst.indexOf(instance.id)
  }
  if (lastPosition.place < 0) return undefined
  const value = extract(set, lastPosition.place, desc.type)
  return typeof value === 'object' ? undefined : value
}
