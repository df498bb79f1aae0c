/**
 * Reads the processes of an instant from an archive. docs/decisions/process-history.md
 *
 *     samples    ·····|·····|·····|·····|·····
 *     window       └─────────── at ───────────┘   WINDOW_SEC on both sides
 *     answer               before  sample          the nearest sample, and the one before it
 */
import { type Timestamp, toSeconds } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import type { Indom, Pmid } from '../model/ids.ts'
import {
  type DescribedColumn,
  PROCESS_COLUMNS,
  PROCESS_FAMILIES,
  type ProcessColumn,
  type ProcessesAnswer,
  type ProcessFamily,
  type ProcessSample,
  processSample,
} from '../model/process-sample.ts'
import type { Instances } from '../model/source.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { ScanOptions } from './scan.ts'
import { timeInArchive } from './scan-parts.ts'

/** The archive as this module uses it. */
export interface ProcessArchive {
  readonly start: Timestamp
  end(): Timestamp
  scan(ids: readonly Pmid[], options: ScanOptions): unknown
  /** See `Archive.prefetch`. */
  prefetch?(from: Timestamp, to: Timestamp): Promise<void>
  setMode(mode: 'forward', when: Timestamp): void
  /** Returns the next record or mark with these metrics. PM_ERR_EOL. */
  fetchRecord(ids: readonly Pmid[]): FetchResult
  /** Returns the instances at the time of the last record. */
  instances(indom: Indom): Promise<Instances>
}

/** A metric of processes in an archive. */
export interface RecordedMetric {
  readonly name: string
  readonly desc: MetricDesc
}

/** How far from the instant samples are searched. */
const WINDOW_SEC = 180
/** Times of records are stored exactly, but searched for as doubles. */
const SLACK_SEC = 0.0005

/** The metric of each process by which samples are found. */
const GUIDE: ProcessColumn = 'psinfo.utime'

/** Returns the processes at a time in seconds since the epoch. `metrics` are those of `processMetrics` that the archive has. */
export async function processesAt(
  archive: ProcessArchive,
  metrics: readonly RecordedMetric[],
  at: number,
): Promise<ProcessesAnswer> {
  await archive.prefetch?.(timeInArchive(archive, at - WINDOW_SEC), timeInArchive(archive, at + WINDOW_SEC))
  let best: Found | undefined
  for (const family of PROCESS_FAMILIES) {
    const described = columnsOf(family, metrics)
    const guide = described.find(({ column }) => column === GUIDE)
    if (guide === undefined) continue
    const found = nearest(archive, guide.desc.pmid, at)
    if (found !== undefined && (best === undefined || found.distance < best.distance))
      best = { ...found, family, described, guide }
  }
  if (best === undefined) return { sample: null, before: null, newest: null }
  const { family, described, guide, time, previous } = best
  const numbers = described.filter(({ desc }) => desc.type !== PM_TYPE_STRING)
  const last = sampleTimes(archive, guide.desc.pmid, toSeconds(archive.end())).times.at(-1)
  const starts = described.filter(({ column }) => column === GUIDE || column === 'psinfo.start_time')
  return {
    before: previous === undefined ? null : sampleAt(archive, family, numbers, previous),
    newest: last === undefined ? null : sampleAt(archive, family, starts, last),
    sample: await named(archive, guide.desc.indom, sampleAt(archive, family, described, time)),
  }
}

interface Nearest {
  readonly time: number
  /** The sample before, unless recording was interrupted between them. */
  readonly previous: number | undefined
  readonly distance: number
}

interface Found extends Nearest {
  readonly family: ProcessFamily
  readonly described: readonly DescribedColumn[]
  readonly guide: DescribedColumn
}

function columnsOf(family: ProcessFamily, metrics: readonly RecordedMetric[]): DescribedColumn[] {
  return PROCESS_COLUMNS.flatMap((column) => {
    const found = metrics.find(({ name }) => name === `${family}.${column}`)
    return found === undefined ? [] : [{ column, desc: found.desc }]
  })
}

function nearest(archive: ProcessArchive, guide: Pmid, at: number): Nearest | undefined {
  const { times, marks } = sampleTimes(archive, guide, at)
  let place = -1
  for (const [i, time] of times.entries())
    if (place < 0 || Math.abs(time - at) < Math.abs(times[place]! - at)) place = i
  if (place < 0) return undefined
  const [time, before] = [times[place]!, times[place - 1]]
  const isApart = before === undefined || marks.some((mark) => mark > before && mark <= time)
  return { time, previous: isApart ? undefined : before, distance: Math.abs(time - at) }
}

/** Returns the times of records with a metric around a time, ascending, and the interruptions. */
function sampleTimes(
  archive: ProcessArchive,
  guide: Pmid,
  at: number,
): { readonly times: readonly number[]; readonly marks: readonly number[] } {
  const times: number[] = []
  const marks: number[] = []
  const [from, to] = [at - WINDOW_SEC, at + WINDOW_SEC]
  if (from > toSeconds(archive.end()) || to < toSeconds(archive.start)) return { times, marks }
  archive.scan([guide], {
    from: timeInArchive(archive, from),
    to: timeInArchive(archive, to),
    into: {
      columnOf: () => ({
        add: (time) => {
          if (times.at(-1) !== time) times.push(time)
        },
      }),
      mark: (time) => marks.push(time),
    },
  })
  return { times, marks }
}

/** Returns a sample, the last one read, with the names of its processes. */
async function named(archive: ProcessArchive, indom: Indom, sample: ProcessSample): Promise<ProcessSample> {
  const { ids, names } = await archive.instances(indom)
  const byId = new Map(Array.from(ids, (id, i) => [id, names[i]!]))
  return { ...sample, names: sample.pids.map((pid) => byId.get(pid) ?? String(pid)) }
}

/** Reads the record at a time that `sampleTimes` returned. */
function sampleAt(
  archive: ProcessArchive,
  family: ProcessFamily,
  described: readonly DescribedColumn[],
  time: number,
): ProcessSample {
  archive.setMode('forward', timeInArchive(archive, time - SLACK_SEC))
  const ids = described.map(({ desc }) => desc.pmid)
  let record = archive.fetchRecord(ids)
  while (record.sets.length === 0) record = archive.fetchRecord(ids) // a mark
  return processSample(toSeconds(record.timestamp), family, described, record.sets)
}
