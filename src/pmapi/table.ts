/** Sampling into typed rows: each column specifies metric, instances and units. docs/reference/client-library.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../model/types.ts'
import type { FetchResult, Value, ValueSet } from '../model/values.ts'
import type { Clock } from './clock.ts'
import type { ContextCalls } from './context-calls.ts'
import { planConversion } from './conversion.ts'
import { FetchRequest, IndomItem, Item } from './fetch-item.ts'
import { emptyNameCache, findInstance, type InstanceNames, isSelected } from './instances.ts'
import { parseMetricSpec } from './metric-spec.ts'
import { type ReadingsOptions, type RowMapper, shapedRows } from './sampled-rows.ts'

/** One column. */
export interface Column {
  readonly metric: string
  /** Instance of a metric with instances, by full name or first word. */
  readonly instance?: string
  /** Several instances: all, or those with these names. The cells are then maps by instance name. */
  readonly instances?: 'all' | readonly string[]
  /** `'instant'`, `'rate'`, or units such as `'Mbyte/sec'`. Default: counters as change per second, others unchanged. */
  readonly scale?: string
  /** Type of the cells: numbers (default), text, or the metric's own type, with bigint where a number is not exact. */
  readonly as?: 'number' | 'text' | 'exact'
}

/**
 * Columns by name; a string names a metric or one instance of it.
 *
 * @example
 * const columns: Columns = {
 *   cpus: 'hinv.ncpu',
 *   load: 'kernel.all.load[1 minute]',
 *   disks: { metric: 'disk.dev.read_bytes', instances: 'all', scale: 'Mbyte/sec' },
 *   system: { metric: 'kernel.uname.sysname', as: 'text' },
 * }
 * for await (const { values, errors } of pcp.table(columns, { every: '10s' })) console.log(values, errors)
 */
export type Columns = Readonly<Record<string, string | Column>>

type Scalar<C> = C extends { readonly as: 'text' }
  ? string
  : C extends { readonly as: 'exact' }
    ? Value
    : number

/** Type of a column's cells; undefined without a current value. */
export type Cell<C> = C extends { readonly instances: 'all' | readonly string[] }
  ? ReadonlyMap<string, Scalar<C>>
  : Scalar<C> | undefined

/** One row. */
export interface TableRow<C extends Columns> {
  /** When the values were fetched. */
  readonly time: Timestamp
  readonly values: { readonly [K in keyof C]: Cell<C[K]> }
  /** Why a column has no value: PM_ERR_AGAIN in the first row of a rate, PM_ERR_VALUE without a current value... */
  readonly errors: { readonly [K in keyof C]?: PcpError }
  /** Error with which the source was lost, in a row that marks its absence; otherwise undefined. */
  readonly away: PcpError | undefined
}

/** Options of `Context.table`. */
export interface TableOptions extends ReadingsOptions {
  /** Number of rows after which to stop. */
  readonly count?: number
  /** Treat a decreased counter as wrapped once instead of restarted. */
  readonly counterWrap?: boolean
}

/** A column after look-up, or the reason it is missing since the source was away. */
type Field = {
  readonly name: string
  readonly column: Column
} & ({ readonly item: Item | IndomItem } | { readonly missing: PcpError })

/** Samples columns. Going forwards, discrete values hold until the next one. */
export function sampleTable<const C extends Columns>(
  context: ContextCalls,
  columns: C,
  options: TableOptions,
  clock: Clock,
): AsyncGenerator<TableRow<C>> {
  return shapedRows(context, new Table<C>(context, columns, options), options, clock)
}

/** The columns, as the current source has them. */
class Table<C extends Columns> implements RowMapper<TableRow<C>> {
  readonly #context: ContextCalls
  readonly #columns: C
  readonly #options: TableOptions
  #fields: readonly Field[] = []
  #request = new FetchRequest([])

  constructor(context: ContextCalls, columns: C, options: TableOptions) {
    this.#context = context
    this.#columns = columns
    this.#options = options
  }

  /** Throws errors the first time; later errors belong to their columns. */
  async lookup(isAgain: boolean): Promise<{ readonly ids: readonly Pmid[]; readonly isComplete: boolean }> {
    const { openings } = this.#context
    const names = emptyNameCache(this.#context)
    this.#fields = await Promise.all(
      Object.entries(this.#columns).map(async ([name, given]): Promise<Field> => {
        const column = columnOf(given)
        try {
          const item = await openItem(this.#context, column, this.#options, names)
          return { name, column, item }
        } catch (error) {
          const isLost = this.#context.away !== undefined || this.#context.openings !== openings
          if (!isAgain || isLost || this.#options.signal?.aborted === true) throw error
          return { name, column, missing: PcpError.from(error) }
        }
      }),
    )
    const items = this.#fields.flatMap((field) => ('missing' in field ? [] : [field.item]))
    this.#request = new FetchRequest(items)
    return { ids: this.#request.ids, isComplete: items.length === this.#fields.length }
  }

  async row(result: FetchResult, before: FetchResult | undefined): Promise<TableRow<C>> {
    await this.#request.take(result, before)
    const values: Record<string, unknown> = {}
    const errors: Record<string, PcpError> = {}
    for (const field of this.#fields) {
      const { name, column } = field
      if ('missing' in field) {
        values[name] = emptyCell(column)
        errors[name] = field.missing
        continue
      }
      const { item } = field
      values[name] = item instanceof Item ? item.value : cellsOf(item, column)
      if (item.error !== undefined) errors[name] = item.error
    }
    return rowOf<C>(result.timestamp, values, errors)
  }

  gapRow(away: PcpError, time: Timestamp): TableRow<C> {
    const values = this.#fields.map(({ name, column }) => [name, emptyCell(column)])
    const errors = this.#fields.map(({ name }) => [name, away])
    return rowOf<C>(time, Object.fromEntries(values), Object.fromEntries(errors), away)
  }
}

/** Casts: the columns were made from C's keys, with the cells of their types. */
function rowOf<C extends Columns>(
  time: Timestamp,
  values: Record<string, unknown>,
  errors: Record<string, PcpError>,
  away?: PcpError,
): TableRow<C> {
  return { time, values, errors, away } as TableRow<C>
}

function emptyCell({ instances }: Column): ReadonlyMap<string, Value> | undefined {
  return instances === undefined ? undefined : new Map()
}

function columnOf(column: string | Column): Column {
  if (typeof column !== 'string') return column
  const { metric, instances } = parseMetricSpec(column)
  // A string names one instance, so blanks belong to its name; commands separate instances by blanks.
  const isOne = instances.length < 2 || !column.includes(',')
  if (!isOne)
    throw new PcpError('PM_ERR_ARG', `"${column}": several instances need a column with \`instances\``)
  const instance =
    instances.length < 2
      ? instances[0]
      : column.slice(column.indexOf('[') + 1, column.lastIndexOf(']')).trim()
  return instance === undefined ? { metric } : { metric, instance }
}

/** Throws PM_ERR_ARG for `instance` together with `instances`, PM_ERR_INDOM for `instances` of a metric without any. */
function insistOnInstances({ metric, instance, instances }: Column, { indom }: MetricDesc): void {
  if (instances === undefined) return
  if (instance !== undefined)
    throw new PcpError('PM_ERR_ARG', `"${metric}": give \`instance\` or \`instances\`, not both`)
  if (indom === PM_INDOM_NULL)
    throw new PcpError('PM_ERR_INDOM', `Metric "${metric}" has no instances: leave \`instances\` out`)
}

async function openItem(
  context: ContextCalls,
  column: Column,
  { counterWrap = false, backward = false, signal }: TableOptions,
  names: InstanceNames,
): Promise<Item | IndomItem> {
  const { metric, instance, instances, scale, as = 'number' } = column
  const call = signal === undefined ? {} : { signal }
  const desc = await context.desc(await context.lookupName(metric, call), call)
  insistOnInstances(column, desc)
  const type = as === 'exact' ? undefined : as === 'text' ? PM_TYPE_STRING : PM_TYPE_DOUBLE
  const conversion = planConversion(desc, { scale, type, isUtilisation: true })
  const repeats = desc.sem === PM_SEM_DISCRETE && !backward
  if (instances === undefined)
    return new Item(conversion, await findInstance(context, desc, instance), counterWrap, repeats)
  const namesOf = (set: ValueSet): ReturnType<InstanceNames['of']> => names.of(desc.indom, set, call)
  return new IndomItem(conversion, Number.POSITIVE_INFINITY, namesOf, counterWrap, repeats)
}

function cellsOf({ instances }: IndomItem, { instances: wanted }: Column): ReadonlyMap<string, Value> {
  const cells = new Map<string, Value>()
  for (const { name, value } of instances) {
    if (name === undefined || value === undefined) continue
    if (wanted === 'all' || isSelected(wanted ?? [], name)) cells.set(name, value)
  }
  return cells
}
