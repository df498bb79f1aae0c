/** Cells of lines made of columns of numbers: rates and scales, as `MetricReader` makes them of value sets. pmFetchGroup(3) */
import type { NumberColumns } from '../../../archive/number-columns.ts'
import type { NumberRows } from '../../../archive/source.ts'
import type { Timestamp } from '../../../base/timestamp.ts'
import { isDebug } from '../../../model/debug.ts'
import type { MetricDesc } from '../../../model/desc.ts'
import { PcpError } from '../../../model/errors.ts'
import { DOMAIN_RESERVED, domainOf } from '../../../model/ids.ts'
import { Counters } from '../../../model/rate.ts'
import { PM_SEM_DISCRETE, PM_TYPE_32, PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../../model/types.ts'
import { CellRow, NOTHING, NUMBER, OTHER } from './cell-row.ts'
import { isReal, type ReadMetric, scaleOf } from './values.ts'

/** A metric of numbers whose columns are read. */
export interface NumberMetric extends ReadMetric {
  /** Instances with a column. */
  readonly insts: readonly number[]
}

/** How the columns of a metric become cells. */
interface Part {
  readonly from: number
  readonly to: number
  readonly type: number
  readonly isLong: boolean
  /** Is a rate shown as an integer? */
  readonly isWhole: boolean
  /** Does the value of the last time hold where there is none? */
  readonly repeats: boolean
  readonly scale: ((value: number) => number) | undefined
  /** What a rate begins from. */
  readonly counters: Counters | undefined
}

/** Reads moment after moment. */
export class NumberCells {
  readonly #columns: NumberColumns
  readonly #parts: readonly Part[]
  readonly #row: CellRow
  /** Kinds of the cells of the last time that there were values. */
  readonly #kinds: Uint8Array

  /** `wraps`: an integer counter that decreased has gone round once. */
  constructor(metrics: readonly NumberMetric[], columns: NumberColumns, wraps: boolean) {
    const size = columns.has.length
    this.#columns = columns
    this.#row = new CellRow(size)
    this.#kinds = new Uint8Array(size)
    let from = 0
    this.#parts = metrics.map((metric) => {
      const part = partOf(metric, from, wraps)
      from = part.to
      return part
    })
  }

  /** The cells of the moment that the columns are of, good until the next one; `elapsedSec` since the one before. */
  read(elapsedSec: number): CellRow {
    const { counts } = this.#columns
    const { kinds } = this.#row
    for (let m = 0; m < this.#parts.length; m++) {
      const part = this.#parts[m]!
      const count = counts[m]!
      if (count > 0) {
        if (part.counters !== undefined) this.#readRates(part, part.counters, elapsedSec)
        else this.#readValues(part)
        if (part.repeats) this.#kinds.set(kinds.subarray(part.from, part.to), part.from)
      } else {
        part.counters?.forget()
        if (part.repeats && count === 0) kinds.set(this.#kinds.subarray(part.from, part.to), part.from)
        else kinds.fill(NOTHING, part.from, part.to)
      }
    }
    return this.#row
  }

  #readValues({ from, to, type, isLong, scale }: Part): void {
    const { has, values } = this.#columns
    const { kinds, numbers, others } = this.#row
    for (let i = from; i < to; i++) {
      if (has[i] === 0) kinds[i] = NOTHING
      else if (isLong && scale === undefined && !isExact(values[i]!)) {
        kinds[i] = OTHER
        others[i] = this.#columns.exact(i, type)
      } else {
        kinds[i] = NUMBER
        numbers[i] = scale === undefined ? values[i]! : scale(values[i]!)
      }
    }
  }

  #readRates({ from, to, isWhole, scale }: Part, counters: Counters, elapsedSec: number): void {
    const { kinds, numbers } = this.#row
    const growth = counters.read(this.#columns, from, elapsedSec < 0)
    const seconds = Math.abs(elapsedSec)
    for (let i = from; i < to; i++) {
      const rate = growth[i - from]! / seconds
      if (seconds === 0 || Number.isNaN(rate)) kinds[i] = NOTHING
      else {
        kinds[i] = NUMBER
        if (isWhole) numbers[i] = Math.trunc(rate)
        else numbers[i] = scale === undefined ? rate : scale(rate)
      }
    }
  }
}

/** Can an archive have columns of it? */
export function isRecordedNumber({ pmid, type }: MetricDesc): boolean {
  return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE && domainOf(pmid) !== DOMAIN_RESERVED
}

/** Does -D ask about fetches? The context tells of those, and of columns it would tell nothing. */
export function isTracingValues(): boolean {
  return isDebug('fetch,value,profile')
}

/** On to the next moment; undefined behind the last one. */
export function nextOf(rows: NumberRows): Timestamp | undefined {
  try {
    return rows.next()
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return undefined
    throw error
  }
}

/** Is an integer small enough to be exact as a double? */
function isExact(integer: number): boolean {
  return integer <= Number.MAX_SAFE_INTEGER && integer >= Number.MIN_SAFE_INTEGER
}

function partOf(metric: NumberMetric, from: number, wraps: boolean): Part {
  const { desc, units, insts } = metric
  const { conversion } = units
  return {
    from,
    to: from + insts.length,
    type: desc.type,
    isLong: desc.type === PM_TYPE_64 || desc.type === PM_TYPE_U64,
    isWhole: !isReal(metric),
    repeats: desc.sem === PM_SEM_DISCRETE && !conversion.isRate,
    scale: scaleOf(conversion),
    counters: conversion.isRate ? new Counters(insts.length, desc.type, wraps) : undefined,
  }
}
