/** A report as columns: one for each instance of each metric. pcp2arrow(1) */
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

/** Types of columns. */
export type Kind = 'int32' | 'uint32' | 'int64' | 'uint64' | 'float' | 'double' | 'string'

/** A column: `metric`, or `metric[instance]`. */
export interface Column {
  readonly name: string
  readonly kind: Kind
  readonly metric: ReportMetric
  /** Index of its metric in samples. */
  readonly at: number
  readonly inst: number
}

/** A value: bigint for 64-bit integers, null if missing. */
export type Value = number | bigint | string | null

/** Samples by column; all arrays have the length of `times`. */
export interface Batch {
  /** Nanoseconds since 1970. */
  readonly times: readonly bigint[]
  readonly values: readonly (readonly Value[])[]
}

/** Writes batches to a file. */
export interface ColumnWriter {
  write(batch: Batch): void
  /** Call after the last batch. */
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

/** Returns a column for every instance known at the start; of an archive, for all that ever existed. */
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

/** Collects samples into batches. */
export class BatchMaker {
  readonly #columns: readonly Column[]
  #times: bigint[] = []
  #values: Value[][]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#values = columns.map(() => [])
  }

  /** Number of samples in the current batch. */
  get rows(): number {
    return this.#times.length
  }

  /** Adds a sample. */
  add({ time, values }: Sample): void {
    this.#times.push(nanoseconds(time))
    for (const [i, { at, inst, metric, kind }] of this.#columns.entries()) {
      const cells = values[at] ?? NO_VALUES
      const cell = cells.at(metric.hasInstances ? cells.find(inst) : 0)
      this.#values[i]!.push(stored(cell, kind))
    }
  }

  /** Returns the current batch and starts another one. */
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
