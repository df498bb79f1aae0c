/** Metrics in OpenTelemetry's JSON format. docs/reference/pmproxy.md, docs/reference/agents/otel.md */
import { VERSION } from '../base/version.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../model/ids.ts'
import type { Label } from '../model/labels.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, semStr } from '../model/types.ts'
import {
  PM_TIME_HOUR,
  PM_TIME_MIN,
  PM_TIME_MSEC,
  PM_TIME_NSEC,
  PM_TIME_SEC,
  PM_TIME_USEC,
  unpackUnits,
} from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import { typeName } from './describe.ts'
import type { ExposedMetric, Exposition } from './exposition.ts'

/** An attribute. */
interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue: string } | { readonly intValue: number }
}

/** Converts an exposition to an object that serializes as OTLP JSON. */
export function otlp({ contextLabels, time, metrics }: Exposition): object {
  const stamp = `${time.sec}${String(time.nsec).padStart(9, '0')}`
  const ofContext = new Set(contextLabels.map(({ name }) => name))
  return {
    resourceMetrics: [
      {
        resource: { attributes: contextLabels.map(attribute) },
        scopeMetrics: [
          {
            scope: { name: 'performance-co-pilot', version: VERSION },
            metrics: metrics.map((metric) => otlpMetric(metric, stamp, ofContext)),
          },
        ],
      },
    ],
  }
}

function otlpMetric(metric: ExposedMetric, stamp: string, ofContext: ReadonlySet<string>): object {
  const { name, desc, help } = metric
  const dataPoints = Array.from({ length: metric.set.status }, (_, i) => point(metric, i, stamp, ofContext))
  const values =
    desc.sem === PM_SEM_COUNTER
      ? { sum: { aggregationTemporality: 'CUMULATIVE', isMonotonic: true, dataPoints } }
      : { gauge: { dataPoints } }
  return { name, description: help, unit: ucum(desc.units), ...values }
}

function point(
  metric: ExposedMetric,
  i: number,
  timeUnixNano: string,
  ofContext: ReadonlySet<string>,
): object {
  const { desc, set, instances, labels } = metric
  const inst = set.inst[i]!
  const attributes: Attribute[] = [
    text('semantics', semStr(desc.sem)),
    text('type', typeName(desc.type)),
    text('pmid', pmidStr(desc.pmid)),
  ]
  const own = new Map(labels.filter(({ name }) => !ofContext.has(name)).map((label) => [label.name, label]))
  if (desc.indom !== PM_INDOM_NULL) {
    attributes.push(text('indom', indomStr(desc.indom)), { key: 'instid', value: { intValue: inst } })
    const name = instances?.names.get(inst)
    if (name !== undefined) attributes.push(text('instname', name))
    for (const label of instances?.labels.get(inst)?.labels ?? []) own.set(label.name, label)
  }
  for (const label of own.values()) attributes.push(attribute(label))
  const value = extract(set, i, desc.type)
  const isReal = desc.type === PM_TYPE_FLOAT || desc.type === PM_TYPE_DOUBLE
  const shown =
    desc.type === PM_TYPE_FLOAT && typeof value === 'number' ? Number(value.toPrecision(8)) : value
  return { attributes, timeUnixNano, ...(isReal ? { asDouble: String(shown) } : { asInt: String(shown) }) }
}

function text(key: string, stringValue: string): Attribute {
  return { key, value: { stringValue } }
}

function attribute({ name, value }: Label): Attribute {
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
