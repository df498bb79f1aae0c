/** A report as columns: one for each instance of each metric, filled sample by sample. pcp2arrow(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import { NO_VALUES } from '../../model/value-columns.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportPlan, Sample } from '../lib/report/report.ts'
import type { Cell } from '../lib/report/values.ts'

/** What the cells of a column are. */
export type Kind = 'int32' | 'uint32' | 'int64' | 'uint64' | 'float' | 'double' | 'string'

/** A column: `metric`, or `metric[instance]`. */
export interface Column {
  readonly name: string
  readonly kind: Kind
  readonly metric: ReportMetric
  /** Place of its metric in samples. */
  readonly at: number
  readonly inst: number
}

/** A value of a column: bigint for 64-bit integers; null for none. */
export type Value = number | bigint | string | null

/** Some samples: values by column, in step with the times. */
export interface Batch {
  /** Nanoseconds since 1970. */
  readonly times: readonly bigint[]
  readonly values: readonly (readonly Value[])[]
}

/** Writes batches in some format. */
export interface ColumnWriter {
  write(batch: Batch): void
  /** Behind the last batch. */
  finish(): void
}

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [PM_TYPE_32, 'int32'],
  [PM_TYPE_U32, 'uint32'],
  [PM_TYPE_64, 'int64'],
  [PM_TYPE_U64, 'uint64'],
  [PM_TYPE_FLOAT, 'float'],
  [PM_TYPE_DOUBLE, 'double'],
  [PM_TYPE_STRING, 'string'],
])

/** A column for every instance that is known at the start; in an archive these are all. */
export function columnsOf({ metrics }: ReportPlan): readonly Column[] {
  return metrics.flatMap((metric, at) =>
    metric.insts.map((inst, i) => ({
      name: metric.hasInstances ? `${metric.name}[${metric.names[i]!}]` : metric.name,
      kind: KINDS.get(metric.units.conversion.type) ?? 'double',
      metric,
      at,
      inst,
    })),
  )
}

/** Collects samples until there are enough for a batch. */
export class BatchMaker {
  readonly #columns: readonly Column[]
  #times: bigint[] = []
  #values: Value[][]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#values = columns.map(() => [])
  }

  /** Samples that were added since `take`. */
  get rows(): number {
    return this.#times.length
  }

  /** Adds a sample. */
  add({ time, readings }: Sample): void {
    this.#times.push(nanoseconds(time))
    for (const [i, { at, inst, metric, kind }] of this.#columns.entries()) {
      const cells = readings[at] ?? NO_VALUES
      const cell = cells.at(metric.hasInstances ? cells.find(inst) : 0)
      this.#values[i]!.push(stored(cell, kind))
    }
  }

  /** What was added; begins anew. */
  take(): Batch {
    const batch = { times: this.#times, values: this.#values }
    this.#times = []
    this.#values = this.#columns.map(() => [])
    return batch
  }
}

function stored(cell: Cell, kind: Kind): Value {
  if (cell === undefined) return null
  if (kind === 'string') return String(cell)
  if (kind === 'int64' || kind === 'uint64') return typeof cell === 'bigint' ? cell : BigInt(cell)
  return Number(cell)
}

function nanoseconds({ sec, nsec }: Timestamp): bigint {
  return BigInt(sec) * 1_000_000_000n + BigInt(nsec)
}
