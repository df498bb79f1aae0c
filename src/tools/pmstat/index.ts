/**
 * pmstat: high-level system performance overview, a line for each sample. pmstat(1)
 *
 * Unlike PCP's it exits when all archives have ended, and never shows today's time above archives.
 */

import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { sampleLoop } from '../../pmapi/samples.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { addTimes, compareTimes, earlierOf, FOREVER, laterOf } from '../../time/arithmetic.ts'
import { ctime, fromSeconds } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { openProblem } from '../lib/open-error.ts'
import { handleEarlyExit, type OptionTable } from '../lib/options.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import { controlPort, TimeControlClient, zoneOf } from '../lib/time-control.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type ArchiveBounds, type SamplingWindow, samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { headings, type Layout } from './layout.ts'
import { Source } from './source.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.guimode,
    STANDARD.host,
    STANDARD.namespace,
    STANDARD.origin,
    STANDARD.guiport,
    STANDARD.start,
    STANDARD.samples,
    STANDARD.finish,
    STANDARD.interval,
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Alternate sources' },
    STANDARD.hostsFile,
    STANDARD.localPmda,
    { heading: 'Reporting options' },
    { short: 'l', long: 'suffix', help: 'show the last characters of host names, not the first' },
    { short: 'P', long: 'pause', help: 'wait between the samples of an archive' },
    { short: 'x', long: 'xcpu', help: 'show more processor times' },
  ],
}

const DEFAULT_INTERVAL_SEC = 5
/** Screen height assumed if stdout is not a terminal, and the height of headings. */
const SCREEN = 24
const HEADING_LINES = 3

/** Reports load, memory, swapping, disks and processors. Status 1 if an archive ends early. */
export const tool: Tool = {
  name: 'pmstat',
  summary: 'Show an overview of system performance, a line for each sample',
  description: `
Each line shows the load average of one minute; swapped, free, buffer and page cache memory, in kilobytes unless followed by m
(megabytes) or g; rates of swapping (pi and po in pages, si and so in operations), of disk reads and writes (bi and bo), of interrupts
and of context switches, in thousands with K and millions with M; and the percentages of processor time in user mode, in the system
and idle. With -x waiting for disks (wa) and time stolen by other virtual machines (st) have separate columns.

With several hosts or archives each sample has a line for each of them, beginning with its name. A question mark is shown for missing
values, as rates need two samples.`,
  examples: [
    ['pmstat -t 2s -s 10', 'Twenty seconds of this host:'],
    ['pmstat -h db1 -h db2 -x', 'Two hosts, with more about processors:'],
    ['pmstat -a 20261120 -S @10:00 -T @11:00 -t 5min', 'An hour of an archive:'],
  ],
  exitStatus: [[1, 'the archive ended before the number of samples was reached']],
  seeAlso: ['pmval', 'pmrep', 'pmclient'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { many: true })
    const { standard, given, problems, operands } = parsed
    const has = (letter: string): boolean => given.some(({ name }) => name === letter)
    if (operands.length > 0) problems.push('too many options')
    if (has('P') && standard.source !== 'archive') problems.push('-P can only be used with archives')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const sources = await openSources(standard, has('l'), io)
    try {
      if (sources.length === 0) {
        io.stderr.write(`${io.progname}: No place to get data from!\n`)
        return 1
      }
      return await report(sources, standard, { isExtended: has('x'), pauses: has('P') }, io)
    } finally {
      for (const source of sources) await source.close()
    }
  },
}

/** Opens the sources; skips collectors that fail, but not archives. */
async function openSources(standard: StandardOptions, suffix: boolean, io: ToolIo): Promise<Source[]> {
  const sources: Source[] = []
  const several = standard.archives.length > 1
  for (const [label, one] of namesOf(standard)) {
    let context: Context
    try {
      context = await openOne(one, io)
    } catch (error) {
      if (!(error instanceof PcpError) || io.signal.aborted) throw error
      if (several)
        throw new PcpError(error.code, `Cannot open archive ${label}: ${openProblem(error)}`, {
          cause: error,
        })
      io.stderr.write(`${io.progname}: Cannot create fetchgroup: ${openProblem(error)}\n`)
      continue
    }
    await sendWhoami(context, [io.progname, ...io.args], io)
    const source = await Source.over(context, { label, suffix }, io)
    if (source !== undefined) sources.push(source)
  }
  return sources
}

/** Returns the options for each source, with its name in messages. */
function namesOf(standard: StandardOptions): [string, StandardOptions][] {
  const { source, hosts, archives } = standard
  if (source === 'archive') return archives.map((name) => [name, { ...standard, archives: [name] }])
  if (source === 'host') return hosts.map((host) => [host, { ...standard, hosts: [host] }])
  return [['local:', standard]]
}

/** Uses agents in this process without a given source and a running collector. */
async function openOne(standard: StandardOptions, io: ToolIo): Promise<Context> {
  try {
    return await openReport(standard, io)
  } catch (error) {
    if (standard.source !== undefined || io.signal.aborted) throw error
    return openReport({ ...standard, source: 'local' }, io).catch(() => {
      throw error
    })
  }
}

/** Options for showing samples. */
interface ViewOptions {
  readonly isExtended: boolean
  readonly pauses: boolean
}

async function report(
  sources: readonly Source[],
  standard: StandardOptions,
  { isExtended, pauses }: ViewOptions,
  io: ToolIo,
): Promise<number> {
  const { zone, note } = await reportingZone(standard, sources[0]!.context, io)
  io.stdout.write(note)
  const bounds = boundsOfAll(sources, standard, io)
  const window = samplingWindow(standard, bounds, zone, io)
  const pace = paceOf(window, standard, bounds, pauses)
  for (const { context } of sources) context.archive?.setMode('interpolate', window.origin, pace.intervalSec)
  const swapLetter = sources.every(({ countsPages }) => countsPages) ? 'p' : 's'
  const layout: Layout = { hasNames: sources.length > 1, isExtended, swapLetter }
  const port = controlPort(standard, io)
  if (port !== undefined) return followTime(sources, layout, { ...window, ...pace, port, zone }, io)
  return showRows(sources, layout, pace, zone, io)
}

/** Returns the earliest start and latest end of all archives. */
function boundsOfAll(
  sources: readonly Source[],
  standard: StandardOptions,
  io: ToolIo,
): ArchiveBounds | undefined {
  const all = sources.flatMap(({ context }) => boundsOf(context, standard, io) ?? [])
  if (all.length === 0) return undefined
  return all.reduce((a, b) => ({
    start: earlierOf(a.start, b.start),
    end: a.end === FOREVER || b.end === FOREVER ? FOREVER : laterOf(a.end, b.end),
  }))
}

/** When rows are shown. */
interface RowSchedule {
  readonly rows: number
  readonly intervalSec: number
  readonly waits: boolean
  /** Archives only: times of the first fetch and of the end. */
  readonly archive: { readonly origin: Timestamp; readonly end: Timestamp } | undefined
}

function paceOf(
  { interval, samples, origin, finish }: SamplingWindow,
  { window }: StandardOptions,
  bounds: ArchiveBounds | undefined,
  pauses: boolean,
): RowSchedule {
  const intervalSec = interval === undefined ? DEFAULT_INTERVAL_SEC : toSeconds(interval)
  // As in PCP, 0 samples means no limit.
  let rows = samples || Number.POSITIVE_INFINITY
  // As in PCP, -T takes precedence over -s.
  if (window.finish !== undefined && finish !== FOREVER)
    rows = Math.max(0, Math.floor(secondsBetween(origin, finish) / intervalSec))
  if (intervalSec === 0 && !Number.isFinite(rows))
    throw new PcpError('PM_ERR_ARG', 'An interval of 0 requires a number of samples: use -s')
  const archive = bounds && { origin, end: bounds.end }
  return { rows, intervalSec, waits: archive === undefined || pauses, archive }
}

/** Shows rows, the first one interval after the fetch that starts the counters. */
async function showRows(
  sources: readonly Source[],
  layout: Layout,
  { rows, intervalSec, waits, archive }: RowSchedule,
  zone: Zone,
  io: ToolIo,
): Promise<number> {
  const screen = (io.stdout.isTerminal ? process.stdout.rows : SCREEN) - HEADING_LINES
  /** Lines left on this screen; undefined before the first row. */
  let lines: number | undefined
  const sampled = sampleLoop(
    sources.map(({ context }) => context),
    {
      intervalSec,
      isPaced: waits,
      call: io,
      flush: () => io.stdout.flush(),
      take: () => linesOf(sources, lines === undefined ? undefined : layout),
    },
  )
  await sampled.next()
  lines = screen
  for (let row = 1; row <= rows; row++) {
    if (lines >= screen) {
      io.stdout.write(`${headingTime(sources, archive?.origin, zone, io)}${headings(layout)}`)
      lines = 0
    }
    const answer = sampled.next()
    io.stdout.write((answer instanceof Promise ? await answer : answer)!)
    lines += sources.length
    if (sources.every(({ hasEnded }) => hasEnded)) return 1
    const isBehind =
      archive && compareTimes(addTimes(archive.origin, fromSeconds(row * intervalSec)), archive.end) > 0
    // Other sources still have to report their end.
    const isOver = sources.every(({ hasEnded, timestamp }) => hasEnded || timestamp === undefined)
    if (isBehind === true && isOver) return sources.some(({ timestamp }) => timestamp !== undefined) ? 1 : 0
  }
  return 0
}

/** Fetches from all sources; returns the lines of all with values. Without a layout only starts the counters. */
function linesOf(sources: readonly Source[], layout: Layout | undefined): string | Promise<string> {
  const lines = sources.map((source) => source.line(layout))
  const isRecorded = lines.every((line) => typeof line === 'string')
  return isRecorded ? lines.join('') : Promise.all(lines).then((all) => all.join(''))
}

/** A time control. */
interface TimeControlOptions {
  readonly port: number
  readonly intervalSec: number
  readonly origin: Timestamp
  readonly finish: Timestamp
  readonly zone: Zone
}

/** Shows a row for each step of a time control; after a jump only restarts the counters. */
async function followTime(
  sources: readonly Source[],
  layout: Layout,
  { port, ...pace }: TimeControlOptions,
  io: ToolIo,
): Promise<never> {
  const contexts = sources.map(({ context }) => context)
  const host = await contexts[0]!.hostname(io)
  const followed = await TimeControlClient.open(port, { ...pace, contexts, host }, io)
  const zone = zoneOf(followed)
  await linesOf(sources, undefined)
  io.stdout.write(`${headingTime(sources, pace.origin, zone, io)}${headings(layout)}`)
  for (;;) {
    const { isRestart, isFirst } = await followed.next()
    const isJump = isRestart && !isFirst
    if (isJump) for (const source of sources) source.restart()
    const lines = await linesOf(sources, layout)
    io.stdout.write(isJump ? headingTime(sources, pace.origin, zone, io) : lines)
    if (sources.every(({ hasEnded }) => hasEnded)) followed.endOfArchive()
    else followed.done()
  }
}

/** Returns the heading's time: that of the first source with values, rounded to the second. */
function headingTime(
  sources: readonly Source[],
  origin: Timestamp | undefined,
  zone: Zone,
  io: ToolIo,
): string {
  const stamp = sources.find(({ timestamp }) => timestamp !== undefined)?.timestamp ?? origin
  const { sec, nsec } = stamp ?? fromSeconds(io.now() / 1000)
  return `@ ${ctime(nsec >= 500_000_000 ? sec + 1 : sec, zone)}\n`
}
