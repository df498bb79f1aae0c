/** The kinds of metrics: what is declared for each, and the handle of one value. */
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
import type { Catalogue, Domain, Row } from './catalogue.ts'
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

/** One kind of metric, with the options of one of them. */
export interface Kind<Its extends Cell, Handle> {
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
export function counterKind(options: CounterOptions): Kind<NumberCell, Counter> {
  const type = TYPES[options.type ?? 'u64']
  return {
    type,
    sem: PM_SEM_COUNTER,
    units: options.units ?? 'count',
    makeCell: () => new NumberCell(type, 0),
    makeHandle: (cell) => new Counter(cell),
  }
}

/** Has no value at the start, unless one is given. */
export function gaugeKind(options: GaugeOptions): Kind<NumberCell, Gauge> {
  const type = TYPES[options.type ?? 'double']
  return {
    type,
    sem: options.sem === 'discrete' ? PM_SEM_DISCRETE : PM_SEM_INSTANT,
    units: options.units ?? 'none',
    makeCell: () => new NumberCell(type, options.initial ?? Number.NaN),
    makeHandle: (cell) => new Gauge(cell),
  }
}

/** Has no value at the start, unless one is given. */
export function textKind(options: TextOptions): Kind<TextCell, Text> {
  return {
    type: PM_TYPE_STRING,
    sem: PM_SEM_DISCRETE,
    units: options.units ?? 'none',
    makeCell: () => new TextCell(options.initial ?? ''),
    makeHandle: (cell) => new Text(cell),
  }
}

/** Starts at 0. */
export function timerKind(): Kind<ElapsedCell, Timer> {
  return {
    type: MMV_TYPE_ELAPSED,
    sem: PM_SEM_COUNTER,
    units: 'microsec',
    makeCell: () => new ElapsedCell(),
    makeHandle: (cell) => new Timer(cell),
  }
}

/** Starts at 0. */
export function ageKind(): Kind<ElapsedCell, Age> {
  return {
    type: MMV_TYPE_ELAPSED,
    sem: PM_SEM_INSTANT,
    units: 'microsec',
    makeCell: () => new ElapsedCell(),
    makeHandle: (cell) => new Age(cell),
  }
}

/** Declares a metric. Errors as `Catalogue.addRow`, and PM_ERR_CONV for units that are none. */
export function declareRow<Its extends Cell>(
  catalogue: Catalogue,
  domain: Domain | undefined,
  name: string,
  options: MetricOptions,
  { type, sem, units, makeCell }: Omit<Kind<Its, unknown>, 'makeHandle'>,
): Row<Its> {
  return catalogue.addRow(
    { name, item: options.item, type, sem, units: unitsFromText(units), texts: textsOf(options) },
    { domain, makeCell, labels: options.labels, notes: options.notes },
  )
}
