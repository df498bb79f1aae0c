/** OTLP metrics in one form, whether received as JSON or as protocol buffers. https://opentelemetry.io/docs/specs/otlp */
import { PcpError } from '../../model/errors.ts'
import type { LabelValue } from '../../pmda/define.ts'

/** Names to values; nested lists and objects are JSON. */
export type Attributes = ReadonlyMap<string, LabelValue>

/** Whether points count from the start of their series or from the previous point. */
export type Temporality = 'delta' | 'cumulative'

/** Kind of a metric. */
export type OtlpKind = 'gauge' | 'sum' | 'histogram' | 'exponential' | 'summary'

/** One measurement of one series. Missing numbers are undefined. */
export interface OtlpPoint {
  readonly attributes: Attributes
  /** Nanoseconds since the epoch; 0 if missing. */
  readonly time: bigint
  readonly start: bigint
  /** Of gauges and sums; undefined for a point with the flag "no recorded value". */
  readonly value: number | undefined
  readonly count: number
  readonly sum: number | undefined
  readonly min: number | undefined
  readonly max: number | undefined
  /** Upper bounds of all but the last bucket. */
  readonly bounds: readonly number[]
  readonly buckets: readonly number[]
  readonly scale: number
  readonly zeroCount: number
  readonly positive: ExponentialBuckets
  readonly negative: ExponentialBuckets
  readonly quantiles: readonly (readonly [quantile: number, value: number])[]
}

/** Counts of consecutive buckets, the first with number `offset`. */
export interface ExponentialBuckets {
  readonly offset: number
  readonly counts: readonly number[]
}

/** A metric with its points and its origin. */
export interface OtlpMetric {
  readonly resource: Attributes
  readonly scope: { readonly name: string; readonly version: string; readonly attributes: Attributes }
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly kind: OtlpKind
  readonly isMonotonic: boolean
  readonly temporality: Temporality
  readonly points: readonly OtlpPoint[]
}

/** Most points accepted in a request of 16 MiB of compressed JSON. */
const MAX_POINTS = 200_000
const MAX_BUCKETS = 4096
const MAX_DEPTH = 16
const NO_RECORDED_VALUE = 1
const KINDS: readonly (readonly [field: string, kind: OtlpKind])[] = [
  ['gauge', 'gauge'],
  ['sum', 'sum'],
  ['histogram', 'histogram'],
  ['exponentialHistogram', 'exponential'],
  ['summary', 'summary'],
]

type Node = { readonly [name: string]: unknown }

/** Returns the metrics of a request. PM_ERR_CONV names an invalid field; unknown fields are ignored. */
export function metricsOf(request: unknown): readonly OtlpMetric[] {
  const found: OtlpMetric[] = []
  let points = 0
  for (const resourceMetrics of nodes(request, 'resourceMetrics')) {
    const resource = attributesOf(node(resourceMetrics['resource'], 'resource'))
    for (const scopeMetrics of nodes(resourceMetrics, 'scopeMetrics')) {
      const scope = scopeOf(node(scopeMetrics['scope'], 'scope'))
      for (const metric of nodes(scopeMetrics, 'metrics')) {
        const read = metricOf(metric, resource, scope)
        if (read === undefined) continue
        points += read.points.length
        if (points > MAX_POINTS) throw wrong('request', `has more than ${MAX_POINTS} points`)
        found.push(read)
      }
    }
  }
  return found
}

function scopeOf(scope: Node): OtlpMetric['scope'] {
  return {
    name: textOf(scope, 'name'),
    version: textOf(scope, 'version'),
    attributes: attributesOf(scope),
  }
}

/** Undefined for a metric without points or of an unknown kind. */
function metricOf(metric: Node, resource: Attributes, scope: OtlpMetric['scope']): OtlpMetric | undefined {
  const found = KINDS.find(([field]) => metric[field] !== undefined && metric[field] !== null)
  if (found === undefined) return undefined
  const [field, kind] = found
  const data = node(metric[field], field)
  const points = nodes(data, 'dataPoints').map((point) => pointOf(point))
  const hasTemporality = kind !== 'gauge' && kind !== 'summary'
  return {
    resource,
    scope,
    name: textOf(metric, 'name'),
    description: textOf(metric, 'description'),
    unit: textOf(metric, 'unit'),
    kind,
    isMonotonic: data['isMonotonic'] === true,
    temporality: hasTemporality ? temporalityOf(data['aggregationTemporality']) : 'cumulative',
    points,
  }
}

function temporalityOf(value: unknown): Temporality {
  if (value === 1 || value === 'AGGREGATION_TEMPORALITY_DELTA') return 'delta'
  if (value === 2 || value === 'AGGREGATION_TEMPORALITY_CUMULATIVE') return 'cumulative'
  throw wrong('aggregationTemporality', `is ${show(value)}, neither delta (1) nor cumulative (2)`)
}

function pointOf(point: Node): OtlpPoint {
  const flags = numberOf(point, 'flags') ?? 0
  const hasValue = (flags & NO_RECORDED_VALUE) === 0
  const buckets = counts(point, 'bucketCounts')
  const bounds = list(point, 'explicitBounds').map((bound) => number(bound, 'explicitBounds'))
  if (buckets.length > 0 && buckets.length !== bounds.length + 1)
    throw wrong('bucketCounts', `has ${buckets.length} counts for ${bounds.length} bounds`)
  if (bounds.some((bound, i) => !(i === 0 || bound > bounds[i - 1]!)))
    throw wrong('explicitBounds', 'is not in ascending order')
  return {
    attributes: attributesOf(point),
    time: timeOf(point, 'timeUnixNano'),
    start: timeOf(point, 'startTimeUnixNano'),
    value: hasValue ? (numberOf(point, 'asDouble') ?? numberOf(point, 'asInt')) : undefined,
    count: countOf(point, 'count'),
    sum: numberOf(point, 'sum'),
    min: numberOf(point, 'min'),
    max: numberOf(point, 'max'),
    bounds,
    buckets,
    scale: numberOf(point, 'scale') ?? 0,
    zeroCount: countOf(point, 'zeroCount'),
    positive: exponentialOf(point, 'positive'),
    negative: exponentialOf(point, 'negative'),
    quantiles: nodes(point, 'quantileValues').map((each) => [
      numberOf(each, 'quantile') ?? 0,
      numberOf(each, 'value') ?? 0,
    ]),
  }
}

function exponentialOf(point: Node, field: string): ExponentialBuckets {
  const buckets = node(point[field], field)
  return { offset: numberOf(buckets, 'offset') ?? 0, counts: counts(buckets, 'bucketCounts') }
}

function counts(of: Node, field: string): readonly number[] {
  const values = list(of, field)
  if (values.length > MAX_BUCKETS)
    throw wrong(field, `has ${values.length} buckets, more than ${MAX_BUCKETS}`)
  return values.map((value) => count(value, field))
}

function attributesOf(of: Node): Attributes {
  const found = new Map<string, LabelValue>()
  for (const pair of nodes(of, 'attributes')) found.set(textOf(pair, 'key'), anyValue(pair['value'], 0))
  return found
}

function anyValue(value: unknown, depth: number): LabelValue {
  if (depth > MAX_DEPTH) throw wrong('value', `is nested more than ${MAX_DEPTH} deep`)
  const any = node(value, 'value')
  if (any['stringValue'] !== undefined) return textOf(any, 'stringValue')
  if (any['boolValue'] !== undefined) return any['boolValue'] === true
  if (any['intValue'] !== undefined) return integerLabel(any['intValue'])
  if (any['doubleValue'] !== undefined) return number(any['doubleValue'], 'doubleValue')
  if (any['arrayValue'] !== undefined)
    return nodes(node(any['arrayValue'], 'arrayValue'), 'values').map((each) => anyValue(each, depth + 1))
  if (any['kvlistValue'] !== undefined) {
    const pairs = nodes(node(any['kvlistValue'], 'kvlistValue'), 'values')
    return Object.fromEntries(pairs.map((pair) => [textOf(pair, 'key'), anyValue(pair['value'], depth + 1)]))
  }
  const bytes = any['bytesValue']
  if (typeof bytes === 'string') return bytes
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : null
}

/** Returns the number, or its text if a JSON number cannot hold it exactly. */
function integerLabel(value: unknown): LabelValue {
  const read = number(value, 'intValue')
  return Number.isSafeInteger(read) ? read : String(value)
}

/** Elements of a list of messages; none if it is missing. */
function nodes(of: unknown, field: string): readonly Node[] {
  return list(node(of, 'request'), field).map((each) => node(each, field))
}

function node(value: unknown, field: string): Node {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw wrong(field, `is ${show(value)}, not an object`)
  return value as Node
}

function list(of: Node, field: string): readonly unknown[] {
  const value = of[field]
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw wrong(field, `is ${show(value)}, not a list`)
  return value as unknown[]
}

function textOf(of: Node, field: string): string {
  const value = of[field]
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw wrong(field, `is ${show(value)}, not a text`)
  return value
}

function numberOf(of: Node, field: string): number | undefined {
  const value = of[field]
  return value === undefined || value === null ? undefined : number(value, field)
}

function countOf(of: Node, field: string): number {
  const value = of[field]
  return value === undefined || value === null ? 0 : count(value, field)
}

function count(value: unknown, field: string): number {
  const read = number(value, field)
  if (!(Number.isInteger(read) && read >= 0)) throw wrong(field, `is ${show(value)}, not a count`)
  return read
}

/** JSON encodes 64-bit integers and non-finite numbers as texts. */
function number(value: unknown, field: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' && /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|-?Infinity|NaN)$/i.test(value))
    return Number(value)
  throw wrong(field, `is ${show(value)}, not a number`)
}

function timeOf(of: Node, field: string): bigint {
  const value = of[field]
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return BigInt(value)
  if (value === undefined || value === null) return 0n
  throw wrong(field, `is ${show(value)}, not a time`)
}

function show(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}

function wrong(field: string, why: string): PcpError {
  return new PcpError('PM_ERR_CONV', `OTLP: "${field}" ${why}`)
}
