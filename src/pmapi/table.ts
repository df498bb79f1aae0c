/** Sampling into rows whose types are known: each column says which metric, which instances, in which units. docs/pmapi.md */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../model/types.ts'
import type { FetchResult, Value } from '../model/values.ts'
import type { Clock } from './clock.ts'
import type { Context } from './context.ts'
import { planConversion } from './conversion.ts'
import { IndomItem, Item } from './fetch-item.ts'
import { findInstance, InstanceNames, isWanted } from './instance-names.ts'
import { parseMetricSpec } from './metric-spec.ts'
import { type ReadingsOptions, readings } from './readings.ts'

/** What a column shows. */
export interface Column {
  readonly metric: string
  /** The one instance, of a metric that has several; by full name or by name up to its first blank. */
  readonly instance?: string
  /** Many instances: all of them, or those of these names. The cells are then maps by instance name. */
  readonly instances?: 'all' | readonly string[]
  /** `'instant'`, `'rate'`, or units such as `'Mbyte/sec'`. Default: counters as change a second, others as they are. */
  readonly scale?: string
  /** What values are: numbers (default), text, or whatever the metric has: bigint where a number is not exact. */
  readonly as?: 'number' | 'text' | 'exact'
}

/** Columns by name; a text stands for a metric, or for one instance of it: `'kernel.all.load[1 minute]'`. */
export type Columns = Readonly<Record<string, string | Column>>

type Scalar<C> = C extends { readonly as: 'text' }
  ? string
  : C extends { readonly as: 'exact' }
    ? Value
    : number

/** What a column's cells are; undefined where there is no value now. */
export type Cell<C> = C extends { readonly instances: 'all' | readonly string[] }
  ? ReadonlyMap<string, Scalar<C>>
  : Scalar<C> | undefined

/** One row. */
export interface TableRow<C extends Columns> {
  /** When the values were read. */
  readonly time: Timestamp
  readonly values: { readonly [K in keyof C]: Cell<C[K]> }
  /** Why a column has no value: PM_ERR_AGAIN in the first row of a rate, PM_ERR_VALUE when there is none... */
  readonly errors: { readonly [K in keyof C]?: PcpError }
}

/** How a table is sampled. */
export interface TableOptions extends ReadingsOptions {
  /** Stop after this many rows. */
  readonly count?: number
  /** A counter that decreased has gone round once, rather than restarted. */
  readonly counterWrap?: boolean
}

/** A column that was looked up. */
interface Field {
  readonly name: string
  readonly id: Pmid
  readonly item: Item | IndomItem
  readonly wanted: readonly string[] | undefined
}

/** Samples columns. Going forwards, discrete values hold until there is another one. */
export async function* sampleTable<const C extends Columns>(
  context: Context,
  columns: C,
  options: TableOptions,
  clock: Clock,
): AsyncGenerator<TableRow<C>> {
  const { count = Number.POSITIVE_INFINITY } = options
  const fields = await Promise.all(
    Object.entries(columns).map(([name, column]) => openField(context, name, columnOf(column), options)),
  )
  const ids = [...new Set(fields.map(({ id }) => id))]
  let before: FetchResult | undefined
  let rows = 0
  for await (const result of readings(context, ids, options, clock)) {
    yield await rowOf<C>(fields, ids, result, before)
    if (++rows >= count) return
    before = result
  }
}

function columnOf(column: string | Column): Column {
  if (typeof column !== 'string') return column
  const { metric, instances } = parseMetricSpec(column)
  if (instances.length > 1)
    throw new PcpError('PM_ERR_ARG', `"${column}": several instances need a column with \`instances\``)
  return instances[0] === undefined ? { metric } : { metric, instance: instances[0] }
}

async function openField(
  context: Context,
  name: string,
  column: Column,
  { counterWrap = false, backward = false }: TableOptions,
): Promise<Field> {
  const { metric, instance, instances, scale, as = 'number' } = column
  const desc = await context.desc(await context.lookupName(metric))
  const type = as === 'exact' ? undefined : as === 'text' ? PM_TYPE_STRING : PM_TYPE_DOUBLE
  const conversion = planConversion(desc, { scale, type, isUtilisation: true })
  const repeats = desc.sem === PM_SEM_DISCRETE && !backward
  if (instances === undefined) {
    const id = await findInstance(context, desc, instance)
    return { name, id: desc.pmid, item: new Item(conversion, id, counterWrap, repeats), wanted: undefined }
  }
  const names = new InstanceNames(context)
  const item = new IndomItem(
    conversion,
    Number.POSITIVE_INFINITY,
    (set) => names.of(desc.indom, set),
    counterWrap,
    repeats,
  )
  return { name, id: desc.pmid, item, wanted: instances === 'all' ? undefined : instances }
}

async function rowOf<C extends Columns>(
  fields: readonly Field[],
  ids: readonly Pmid[],
  result: FetchResult,
  before: FetchResult | undefined,
): Promise<TableRow<C>> {
  const elapsed = before === undefined ? 0 : secondsBetween(before.timestamp, result.timestamp)
  const values: Record<string, unknown> = {}
  const errors: Record<string, PcpError> = {}
  for (const { name, id, item, wanted } of fields) {
    const at = ids.indexOf(id)
    const earlier = before?.sets[at]
    await item.take({ set: result.sets[at]!, before: earlier, elapsed, isFirst: before === undefined })
    values[name] = item instanceof Item ? item.value : cellsOf(item, wanted)
    if (item.error !== undefined) errors[name] = item.error
  }
  // The columns were made from C's keys, each with the kind of cell that C says.
  return { time: result.timestamp, values, errors } as TableRow<C>
}

function cellsOf(
  { instances }: IndomItem,
  wanted: readonly string[] | undefined,
): ReadonlyMap<string, Value> {
  const cells = new Map<string, Value>()
  for (const { name, value } of instances) {
    if (name === undefined || value === undefined) continue
    if (wanted === undefined || isWanted(wanted, name)) cells.set(name, value)
  }
  return cells
}
