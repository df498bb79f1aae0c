/** Values of metrics from a columns file: the same as `scan` reads from the records of its archive. */
import { GrowingColumn, type ScanResult } from '../../archive/scan.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_IN_NULL, PM_INDOM_NULL } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { ChunkTimes } from './decode.ts'
import type { ColumnsFile, MetricChunk } from './file.ts'

/** So many instances get room for all samples. */
const FEW_INSTANCES = 32

/**
 * Returns all values of numeric metrics, and the marks, between two times, inclusive. The file must be able to read the metrics
 * (`isUnreadable`). Errors of `ColumnsFile.chunks`.
 */
export function valuesOf(
  file: ColumnsFile,
  descs: readonly MetricDesc[],
  start: Timestamp,
  finish: Timestamp,
): Pick<ScanResult, 'columns' | 'marks'> {
  return {
    marks: marksOf(file.times({ start, finish }), start, finish),
    columns: descs.flatMap((desc) => {
      const columns = new Map<number, GrowingColumn>()
      const chunks = file.chunks(desc.pmid, desc.type, { start, finish })
      let samples = 0
      for (const chunk of chunks) samples += chunk.samples.records.length
      const open = (inst: number): GrowingColumn =>
        // Many instances come and go.
        new GrowingColumn(inst, columns.size < FEW_INSTANCES ? samples : undefined)
      for (const chunk of chunks)
        take(chunk, recordsWithin(chunk.times, start, finish), (each) => {
          const inst = desc.indom === PM_INDOM_NULL ? PM_IN_NULL : each
          const known = columns.get(inst) ?? open(inst)
          columns.set(inst, known)
          return known
        })
      return [...columns.values()].map((column) => ({
        pmid: desc.pmid,
        inst: column.inst,
        ...column.finish(),
      }))
    }),
  }
}

function take(
  { times, samples }: MetricChunk,
  { first, end }: Records,
  columnOf: (inst: number) => GrowingColumn,
): void {
  const { records } = samples
  const { sec, nsec } = times
  let inst: readonly number[] = []
  let sinks: readonly GrowingColumn[] = []
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!
    if (record < first) continue
    if (record >= end) break
    samples.moveTo(i)
    if (inst !== samples.inst) {
      inst = samples.inst
      sinks = inst.map(columnOf)
    }
    const time = sec[record]! + nsec[record]! / 1e9
    const { values } = samples
    for (let v = 0; v < values.length; v++) sinks[v]!.add(time, Number(values[v]))
  }
}

function marksOf(chunks: readonly ChunkTimes[], start: Timestamp, finish: Timestamp): Float64Array {
  const marks: number[] = []
  for (const times of chunks) {
    const { first, end } = recordsWithin(times, start, finish)
    for (let i = first; i < end; i++)
      if (times.marks[i]! > (times.marks[i - 1] ?? 0)) marks.push(times.sec[i]! + times.nsec[i]! / 1e9)
  }
  return Float64Array.from(marks)
}

/** Records from `first` on, up to and without `end`. */
interface Records {
  readonly first: number
  readonly end: number
}

function recordsWithin(times: ChunkTimes, start: Timestamp, finish: Timestamp): Records {
  return {
    first: firstRecord(times, (time) => compareTimes(time, start) >= 0),
    end: firstRecord(times, (time) => compareTimes(time, finish) > 0),
  }
}

/** Returns the first record whose time is beyond something; times never decrease. */
function firstRecord({ sec, nsec }: ChunkTimes, isBeyond: (time: Timestamp) => boolean): number {
  let [low, high] = [0, sec.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBeyond({ sec: sec[middle]!, nsec: nsec[middle]! })) high = middle
    else low = middle + 1
  }
  return low
}
