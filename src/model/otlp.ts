/** Metrics in OpenTelemetry's protocol, as its JSON writes them. https://opentelemetry.io/docs/specs/otlp */
import type { Timestamp } from '../base/timestamp.ts'
import { VERSION } from '../base/version.ts'
import type { MetricDesc } from './desc.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from './ids.ts'
import type { Label } from './labels.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, semStr, typeStr } from './types.ts'
import {
  PM_TIME_HOUR,
  PM_TIME_MIN,
  PM_TIME_MSEC,
  PM_TIME_NSEC,
  PM_TIME_SEC,
  PM_TIME_USEC,
  unpackUnits,
} from './units.ts'

/** A metric with the values of one time. */
export interface OtlpInput {
  readonly name: string
  readonly help: string
  readonly desc: MetricDesc
  /** Labels of all levels above the instances, of which those of the context are the resource's. */
  readonly labels: readonly Label[]
  readonly values: readonly OtlpValue[]
}

/** The value of an instance; of a metric without instances, name and labels are not used. */
export interface OtlpValue {
  readonly inst: number
  readonly name: string | undefined
  readonly labels: readonly Label[]
  readonly value: number | bigint
  /** Since when a counter counts, if that is known. */
  readonly start?: Timestamp | undefined
}

/** An attribute. */
export interface OtlpAttribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: number }
}

/** A value; 64-bit integers are texts. */
export interface OtlpPoint {
  readonly attributes: readonly OtlpAttribute[]
  readonly startTimeUnixNano?: string
  readonly timeUnixNano: string
  readonly asDouble?: string | number
  readonly asInt?: string | number
}

interface OtlpPoints {
  readonly dataPoints: readonly OtlpPoint[]
}

/** A metric of a request. */
export interface OtlpMetric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly gauge?: OtlpPoints
  readonly sum?: OtlpPoints & {
    readonly aggregationTemporality: string | number
    readonly isMonotonic: boolean
  }
}

/** ExportMetricsServiceRequest. */
export interface OtlpRequest {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeMetrics: readonly {
      readonly scope: { readonly name: string; readonly version: string }
      readonly metrics: readonly OtlpMetric[]
    }[]
  }[]
}

/** How JSON is written. */
export interface OtlpForm {
  /** AGGREGATION_TEMPORALITY_CUMULATIVE as the specification wants it, or as PCP's pmproxy writes it. */
  readonly cumulative: 2 | 'CUMULATIVE'
  /** Values are JSON numbers where these are exact, instead of texts. */
  readonly hasNumbers?: boolean
}

/** Makes a request of the metrics of one host. */
export function otlpRequest(
  context: readonly Label[],
  time: Timestamp,
  metrics: readonly OtlpInput[],
  form: OtlpForm,
): OtlpRequest {
  const ofContext = new Set(context.map(({ name }) => name))
  const all = metrics.map((metric) => otlpMetric(metric, nanoseconds(time), ofContext, form))
  return {
    resourceMetrics: [
      {
        resource: { attributes: context.map(attribute) },
        scopeMetrics: [{ scope: { name: 'performance-co-pilot', version: VERSION }, metrics: all }],
      },
    ],
  }
}

function otlpMetric(
  metric: OtlpInput,
  time: string,
  ofContext: ReadonlySet<string>,
  form: OtlpForm,
): OtlpMetric {
  const { name, desc, help, values } = metric
  const dataPoints = values.map((value) => point(metric, value, time, ofContext, form))
  const points =
    desc.sem === PM_SEM_COUNTER
      ? { sum: { aggregationTemporality: form.cumulative, isMonotonic: true, dataPoints } }
      : { gauge: { dataPoints } }
  return { name, description: help, unit: ucum(desc.units), ...points }
}

function point(
  { desc, labels }: OtlpInput,
  { inst, name, labels: own, value, start }: OtlpValue,
  timeUnixNano: string,
  ofContext: ReadonlySet<string>,
  { hasNumbers = false }: OtlpForm,
): OtlpPoint {
  const attributes: OtlpAttribute[] = [
    text('semantics', semStr(desc.sem)),
    text('type', typeStr(desc.type).toLowerCase()),
    text('pmid', pmidStr(desc.pmid)),
  ]
  const all = new Map(labels.filter((each) => !ofContext.has(each.name)).map((label) => [label.name, label]))
  if (desc.indom !== PM_INDOM_NULL) {
    attributes.push(text('indom', indomStr(desc.indom)), { key: 'instid', value: { intValue: inst } })
    if (name !== undefined) attributes.push(text('instname', name))
    for (const label of own) all.set(label.name, label)
  }
  for (const label of all.values()) attributes.push(attribute(label))
  const isReal = desc.type === PM_TYPE_FLOAT || desc.type === PM_TYPE_DOUBLE
  const shown =
    desc.type === PM_TYPE_FLOAT && typeof value === 'number' ? Number(value.toPrecision(8)) : value
  const number = hasNumbers && typeof shown === 'number' && Number.isFinite(shown) ? shown : String(shown)
  return {
    attributes,
    ...(start === undefined ? {} : { startTimeUnixNano: nanoseconds(start) }),
    timeUnixNano,
    ...(isReal ? { asDouble: number } : { asInt: number }),
  }
}

function nanoseconds({ sec, nsec }: Timestamp): string {
  return `${sec}${String(nsec).padStart(9, '0')}`
}

function text(key: string, stringValue: string): OtlpAttribute {
  return { key, value: { stringValue } }
}

function attribute({ name, value }: Label): OtlpAttribute {
  let plain: unknown = value
  try {
    plain = JSON.parse(value)
  } catch {
    // unchanged
  }
  return text(name, String(plain))
}

const SPACE = ['By', 'KiBy', 'MiBy', 'GiBy', 'TiBy', 'PiBy', 'EiBy']
const TIME: Readonly<Record<number, string>> = {
  [PM_TIME_NSEC]: 'ns',
  [PM_TIME_USEC]: 'us',
  [PM_TIME_MSEC]: 'ms',
  [PM_TIME_SEC]: 's',
  [PM_TIME_MIN]: 'min',
  [PM_TIME_HOUR]: 'h',
}

/** Returns units in UCUM notation, `1` without a dimension: `KiBy.s-1`. */
export function ucum(word: number): string {
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount } = unpackUnits(word)
  const count = scaleCount === 0 ? '{count}' : `10*${scaleCount}.{count}`
  const parts = [
    power(SPACE[scaleSpace] ?? 'By', dimSpace),
    power(TIME[scaleTime] ?? 's', dimTime),
    // A count per second needs a named count if nothing else is named.
    power(count, dimCount),
  ]
  const unit = parts.filter((part) => part !== '').join('.')
  return unit === '' ? '1' : unit
}

function power(unit: string, dimension: number): string {
  if (dimension === 0) return ''
  return dimension === 1 ? unit : `${unit}${dimension}`
}
