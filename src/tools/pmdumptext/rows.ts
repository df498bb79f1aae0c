/** Fetches from all sources at each time, and writes the rows. */

import { formatF } from '../../base/printf.ts'
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { FetchResult } from '../../model/values.ts'
import { isEndOfArchive, sampleLoop } from '../../pmapi/samples.ts'
import { addTimes, compareTimes } from '../../time/arithmetic.ts'
import { ctime, fromSeconds } from '../../time/stamp.ts'
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { ArchiveBounds, SamplingWindow } from '../lib/window.ts'
import { type Column, columnValue, type Fetched } from './columns.ts'
import { cellText } from './format.ts'
import { headings } from './header.ts'
import type { PmdumptextOptions } from './options.ts'
import type { Source } from './sources.ts'

const DEFAULT_INTERVAL_SEC = 1
const OFFSET_WIDTH = 15
/** Length of ctime's text without the year. */
const CTIME_LENGTH = 19

/** A source with its metrics and last two fetches. */
interface Feed {
  readonly source: Source
  readonly ids: readonly Pmid[]
  now: Fetched | undefined
  before: Fetched | undefined
}

/** Writes headings and rows until the window or the archives end. */
export async function showRows(
  columns: readonly Column[],
  wanted: PmdumptextOptions,
  window: SamplingWindow,
  { zone, bounds }: { readonly zone: Zone; readonly bounds: ArchiveBounds | undefined },
  io: ToolIo,
): Promise<void> {
  const intervalSec = (window.interval && toSeconds(window.interval)) || DEFAULT_INTERVAL_SEC
  const feeds = feedsOf(columns)
  const { samples: count, finish, origin } = window
  const end = bounds?.end
  let at = origin
  const sampled = sampleLoop(
    [...feeds.keys()].map(({ context }) => context),
    {
      origin,
      intervalSec,
      call: io,
      flush: () => io.stdout.flush(),
      take: () => {
        if (end === undefined) at = fromSeconds(io.now() / 1000)
        const waits = [...feeds.values()].flatMap((feed) => fetchInto(feed, io) ?? [])
        return waits.length === 0 ? at : Promise.all(waits).then(() => at)
      },
    },
  )
  const stamp = stampOf(wanted, zone, bounds?.start ?? window.origin)
  const timeWidth = labelWidth(stamp?.(window.origin) ?? [])
  io.stdout.write(headings(columns, wanted, timeWidth, true))
  if (wanted.checks) return
  const wraps = io.env['PCP_COUNTER_WRAP'] !== undefined
  for (let row = 0; row < (count || Number.POSITIVE_INFINITY); row++) {
    at = addTimes(origin, fromSeconds(row * intervalSec))
    if (compareTimes(at, finish) > 0 || (end !== undefined && compareTimes(at, end) > 0)) return
    const answer = sampled.next()
    if (answer instanceof Promise) await answer
    const cells = columns.map((column) => {
      const { now, before } = feeds.get(column.source)!
      return justified(cellText(columnValue(column, now, before, wraps), wanted), wanted)
    })
    if (stamp !== undefined) cells.unshift(...stamp(at))
    io.stdout.write(`${cells.join(wanted.delimiter)}\n`)
    if (wanted.repeat > 0 && (row + 1) % wanted.repeat === 0)
      io.stdout.write(`\n${headings(columns, wanted, timeWidth, false)}`)
  }
}

function feedsOf(columns: readonly Column[]): Map<Source, Feed> {
  const ids = new Map<Source, Set<Pmid>>()
  for (const { source, desc } of columns) {
    const known = ids.get(source) ?? new Set()
    ids.set(source, known.add(desc.pmid))
  }
  return new Map(
    [...ids].map(([source, set]) => [source, { source, ids: [...set], now: undefined, before: undefined }]),
  )
}

/** Fetches a sample, synchronously if possible. */
function fetchInto(feed: Feed, io: ToolIo): Promise<void> | undefined {
  feed.before = feed.now
  try {
    const result = feed.source.context.fetchNow(feed.ids, io)
    if (result instanceof Promise)
      return result.then(
        (answer) => take(feed, answer),
        (error: unknown) => goWithout(feed, error, io),
      )
    take(feed, result)
  } catch (error) {
    return goWithout(feed, error, io)
  }
  return undefined
}

function take(feed: Feed, { timestamp, sets }: FetchResult): void {
  feed.now = { timestamp, sets: new Map(sets.map((set) => [set.pmid, set])) }
}

/** Handles a failed fetch as missing values: before the start of an archive, or without a collector. */
async function goWithout(feed: Feed, error: unknown, io: ToolIo): Promise<void> {
  const { context, name } = feed.source
  if (!(error instanceof PcpError) || io.signal.aborted) throw error
  feed.now = undefined
  if (isEndOfArchive(error)) return
  io.stderr.write(`${io.progname}: Error: ${name}: ${error.text}\n`)
  if (context.archive === undefined) await context.reconnect(io).catch(() => {})
}

function justified(text: string, { isInteractive, width }: PmdumptextOptions): string {
  return isInteractive ? text.padStart(width) : text
}

/** Returns a function that formats times as one cell or two; undefined without times. Offsets are relative to `start`. */
function stampOf(
  { timeFormat, showsOffset }: PmdumptextOptions,
  zone: Zone,
  start: Timestamp,
): ((at: Timestamp) => string[]) | undefined {
  if (timeFormat === '') return undefined
  return (at) => {
    const time =
      timeFormat === undefined
        ? ctime(at.sec, zone).slice(0, CTIME_LENGTH)
        : strftime(timeFormat, at.sec, zone, at.nsec)
    return showsOffset ? [offsetText(secondsBetween(start, at)), time] : [time]
  }
}

/** Returns the width of heading labels. PCP reserves it for offsets, and tables are compared with its output. */
function labelWidth(stamp: readonly string[]): number {
  return (stamp.at(-1) ?? '').length + (stamp.length > 1 ? OFFSET_WIDTH : 0)
}

function offsetText(seconds: number): string {
  return formatF(seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0)
}
