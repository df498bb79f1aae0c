/** Kinds of metrics: type, semantics and handle of each. */
import { unitsFromText } from '../model/parse-units.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import type { DeclaredDomain, DeclaredMetric, MetricCatalogue } from './catalogue.ts'
import { type Cell, ElapsedCell, NumberCell, TextCell } from './cells.ts'
import {
  type CounterOptions,
  type GaugeOptions,
  type MetricOptions,
  type NumberType,
  type TextOptions,
  textsOf,
} from './declare.ts'
import { Age, Counter, Gauge, Text, Timer } from './handles.ts'
import { MMV_TYPE_ELAPSED } from './layout.ts'

/** A kind of metric, with the options of one metric. */
export interface MetricKind<Its extends Cell, Handle> {
  readonly type: number
  readonly sem: number
  readonly units: string
  readonly makeCell: () => Its
  readonly makeHandle: (cell: Its) => Handle
}

const TYPES: { readonly [name in NumberType]: number } = {
  '32': PM_TYPE_32,
  u32: PM_TYPE_U32,
  '64': PM_TYPE_64,
  u64: PM_TYPE_U64,
  float: PM_TYPE_FLOAT,
  double: PM_TYPE_DOUBLE,
}

/** Starts at 0. */
export function counterKind(options: CounterOptions): MetricKind<NumberCell, Counter> {
  const type = TYPES[options.type ?? 'u64']
  return {
    type,
    sem: PM_SEM_COUNTER,
    units: options.units ?? 'count',
    makeCell: () => new NumberCell(type, 0),
    makeHandle: (cell) => new Counter(cell),
  }
}

/** Has no value initially, unless one is given. */
export function gaugeKind(options: GaugeOptions): MetricKind<NumberCell, Gauge> {
  const type = TYPES[options.type ?? 'double']
  return {
    type,
    sem: options.sem === 'discrete' ? PM_SEM_DISCRETE : PM_SEM_INSTANT,
    units: options.units ?? 'none',
    makeCell: () => new NumberCell(type, options.initial ?? Number.NaN),
    makeHandle: (cell) => new Gauge(cell),
  }
}

/** Has no value initially, unless one is given. */
export function textKind(options: TextOptions): MetricKind<TextCell, Text> {
  return {
    type: PM_TYPE_STRING,
    sem: PM_SEM_DISCRETE,
    units: options.units ?? 'none',
    makeCell: () => new TextCell(options.initial ?? ''),
    makeHandle: (cell) => new Text(cell),
  }
}

/** Starts at 0. */
export function timerKind(): MetricKind<ElapsedCell, Timer> {
  return {
    type: MMV_TYPE_ELAPSED,
    sem: PM_SEM_COUNTER,
    units: 'microsec',
    makeCell: () => new ElapsedCell(),
    makeHandle: (cell) => new Timer(cell),
  }
}

/** Starts at 0. */
export function ageKind(): MetricKind<ElapsedCell, Age> {
  return {
    type: MMV_TYPE_ELAPSED,
    sem: PM_SEM_INSTANT,
    units: 'microsec',
    makeCell: () => new ElapsedCell(),
    makeHandle: (cell) => new Age(cell),
  }
}

/** Declares a metric. Errors as `MetricCatalogue.addRow`, and PM_ERR_CONV for invalid units. */
export function declareRow<Its extends Cell>(
  catalogue: MetricCatalogue,
  domain: DeclaredDomain | undefined,
  name: string,
  options: MetricOptions,
  { type, sem, units, makeCell }: Omit<MetricKind<Its, unknown>, 'makeHandle'>,
): DeclaredMetric<Its> {
  return catalogue.addRow(
    { name, item: options.item, type, sem, units: unitsFromText(units), texts: textsOf(options) },
    { domain, makeCell, labels: options.labels, notes: options.notes },
  )
}
