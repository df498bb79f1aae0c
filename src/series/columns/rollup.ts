/** Rollups of an archive: facts about the values of each instance in each minute or hour. docs/formats/rollups.md */
import { counterDelta } from '../../model/rate.ts'
import { PM_SEM_COUNTER } from '../../model/types.ts'
import type { CataloguedSeries } from '../archives/catalogue.ts'
import type { MetricChunk } from './file.ts'

/** Facts about the values of an instance in a step. */
export interface RollupRow {
  readonly inst: number
  /** Start of the step, in seconds. */
  readonly time: number
  min: number
  max: number
  sum: number
  count: number
  first: number
  last: number
  /** Microseconds since 1970. */
  readonly firstTime: bigint
  lastTime: bigint
  /** Of a counter: its growth since the value before, and the seconds that it took. */
  increase: number
  seconds: number
}

/** The value before, from which a counter grew. */
interface Before {
  value: number | bigint
  time: number
  marks: number
}

/** Yields the rows of a metric, ordered by time; of equal times, in order of appearance. */
export function* rollupRows(
  { desc }: CataloguedSeries,
  chunks: readonly MetricChunk[],
  step: number,
): Generator<RollupRow> {
  const before = new Map<number, Before>()
  const isCounter = desc.sem === PM_SEM_COUNTER
  let rows = new Map<number, RollupRow>()
  let current = Number.NaN
  for (const { times, samples, marksBefore } of chunks) {
    for (const [i, record] of samples.records.entries()) {
      const sec = times.sec[record]!
      const nsec = times.nsec[record]!
      const start = Math.floor(sec / step) * step
      if (start !== current) {
        yield* rows.values()
        rows = new Map()
        current = start
      }
      const stamp = BigInt(sec) * 1_000_000n + BigInt(Math.floor(nsec / 1000))
      const time = sec + nsec / 1e9
      const marks = marksBefore + times.marks[record]!
      samples.moveTo(i)
      for (const [v, inst] of samples.inst.entries()) {
        const value = samples.values[v]!
        const row = add(rows, inst, Number(value), stamp, start)
        if (!isCounter) continue
        const last = before.get(inst)
        const growth = last?.marks === marks ? counterDelta(last.value, value) : undefined
        // Neither a reset nor a time without recording counts.
        if (growth !== undefined) {
          row.increase += growth
          row.seconds += time - last!.time
        }
        if (last === undefined) before.set(inst, { value, time, marks })
        else Object.assign(last, { value, time, marks })
      }
    }
  }
  yield* rows.values()
}

function add(
  rows: Map<number, RollupRow>,
  inst: number,
  value: number,
  stamp: bigint,
  time: number,
): RollupRow {
  const known = rows.get(inst)
  if (known === undefined) {
    const row: RollupRow = {
      inst,
      time,
      min: value,
      max: value,
      sum: value,
      count: 1,
      first: value,
      last: value,
      firstTime: stamp,
      lastTime: stamp,
      increase: 0,
      seconds: 0,
    }
    rows.set(inst, row)
    return row
  }
  if (value < known.min) known.min = value
  if (value > known.max) known.max = value
  known.sum += value
  known.count++
  known.last = value
  known.lastTime = stamp
  return known
}
