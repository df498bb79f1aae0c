/** Commands that `pcp` starts: their options, their source, their zone. pcp(1) */

import { secondsBetween, type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import type { Context } from '../../../pmapi/context.ts'
import { type Samples, samples } from '../../../pmapi/samples.ts'
import { sendWhoami } from '../../../pmapi/whoami.ts'
import { compareTimes } from '../../../time/arithmetic.ts'
import type { Zone } from '../../../time/zone.ts'
import { isCtrlC } from '../interrupt.ts'
import { endEarly, type GivenOption, type OptionTable } from '../options.ts'
import { boundsOf, openReport } from '../source.ts'
import { parseStandard, type StandardOptions } from '../standard.ts'
import type { ToolIo } from '../tool.ts'
import { type SamplingWindow, samplingWindow } from '../window.ts'
import { reportingZone } from '../zone.ts'
import { type Sample, SampledMetrics, type WantedMetric } from './metrics.ts'

/** What a report starts from. */
export interface ReportSource {
  readonly context: Context
  readonly standard: StandardOptions
  readonly window: SamplingWindow
  readonly zone: Zone
}

/** A command line as such a report has it: what is wrong is added to `problems`. */
export interface ReportLine<S> {
  readonly table: OptionTable
  /** Reads the command's own options. What it throws ends the command. */
  readonly read: (
    given: readonly GivenOption[],
    line: {
      readonly operands: readonly string[]
      readonly problems: string[]
      readonly standard: StandardOptions
    },
  ) => S
}

/**
 * Reads the command line and the environment, opens the source and reports. Returns the exit status: that of the report, or 1 with
 * the usage text. Throws PcpError with the message that ends the command.
 */
export async function runReport<S>(
  { table, read }: ReportLine<S>,
  io: ToolIo,
  report: (source: ReportSource, own: S, io: ToolIo) => Promise<number>,
): Promise<number> {
  const parsed = parseStandard(table, io, { inherits: true, isHighRes: true })
  const { given, operands, problems, standard } = parsed
  const own = read(given, { operands, problems, standard })
  const status = endEarly(table, parsed, io)
  if (status !== undefined) return status
  const context = await openReport(standard, io)
  try {
    await sendWhoami(context, [io.progname, ...io.args], io)
    const { zone } = await reportingZone(standard, context, io)
    const window = samplingWindow(standard, boundsOf(context, standard, io), zone, io)
    return await report({ context, standard, window, zone }, own, io)
  } catch (error) {
    // Scripts know PCP's reports to end well so.
    if (!isCtrlC(io.signal)) throw error
    return 0
  } finally {
    await context.close()
  }
}

/** When to fetch. */
export interface SamplePlan {
  /** How often; undefined: until the window or the archive ends, or the user interrupts. */
  readonly fetches: number | undefined
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Samples come before this moment, unless their number is given. */
  readonly finish: Timestamp
  /** Of an archive, the records as they are: nothing is interpolated. */
  readonly isRecorded?: boolean
}

/**
 * When a report fetches whose first sample only begins the counting: as often as -s says (`samples` in its place), or, as in PCP, as
 * many intervals as there are until the moment of -T, or until the end.
 */
export function samplingPlan(
  { standard, window }: ReportSource,
  samples: number | undefined = window.samples,
): SamplePlan {
  const { interval, origin, finish } = window
  const intervalSec = interval === undefined ? 1 : toSeconds(interval)
  const hasFinish = standard.window.finish !== undefined
  const untilFinish = hasFinish ? Math.floor(secondsBetween(origin, finish) / intervalSec + 0.5) : undefined
  return { fetches: samples === 0 ? undefined : (samples ?? untilFinish), intervalSec, origin, finish }
}

/** Fetches as planned; live, moments that passed meanwhile are not made up for. Errors as for `SampledMetrics.fetch`. */
export function samplesOf(
  context: Context,
  metrics: SampledMetrics,
  { fetches, intervalSec, origin, finish, isRecorded = false }: SamplePlan,
  io: ToolIo,
): Samples<Sample> {
  // The last record of all is one of the records, but no moment begins at the end.
  const end = isRecorded ? 0 : -1
  return samples(context, {
    take: () => metrics.fetch(io),
    origin,
    intervalSec,
    mode: isRecorded ? 'forward' : 'interpolate',
    late: 'latest',
    ...(fetches === undefined
      ? { isBeyond: ({ time }) => Math.sign(compareTimes(time, finish)) > end }
      : { count: fetches }),
    flush: () => io.stdout.flush(),
    call: io,
  })
}

/** Metrics that a report cannot do without; undefined when some are missing, which has been said on standard error then. */
export async function requireMetrics(
  context: Context,
  wanted: readonly WantedMetric[],
  io: ToolIo,
): Promise<SampledMetrics | undefined> {
  const metrics = await SampledMetrics.find(context, wanted, io)
  if (metrics.missing.length === 0) return metrics
  sayMissing(metrics.missing, 'Missing', io)
  return undefined
}

/** Says which metrics a report lacks, as PCP's reports do: `Missing ['a', 'b']`. */
export function sayMissing(names: readonly string[], word: string, { stderr }: ToolIo): void {
  const list = names.map((name) => `'${name}'`).join(', ')
  stderr.write(`Error: not all required metrics are available\n${word} [${list}]\n`)
}
