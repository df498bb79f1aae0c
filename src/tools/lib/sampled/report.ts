/** Runs reports started by `pcp`: options, source, zone. pcp(1) */

import { secondsBetween, type Timestamp, toSeconds } from '../../../base/timestamp.ts'
import type { Context } from '../../../pmapi/context.ts'
import { type SampleSequence, sampleLoop } from '../../../pmapi/samples.ts'
import { sendWhoami } from '../../../pmapi/whoami.ts'
import { compareTimes } from '../../../time/arithmetic.ts'
import type { Zone } from '../../../time/zone.ts'
import { isCtrlC } from '../interrupt.ts'
import { type GivenOption, handleEarlyExit, type OptionTable } from '../options.ts'
import { boundsOf, openReport } from '../source.ts'
import { parseStandard, type StandardOptions } from '../standard.ts'
import type { ToolIo } from '../tool.ts'
import { type SamplingWindow, samplingWindow } from '../window.ts'
import { reportingZone } from '../zone.ts'
import { type Sample, SampledMetrics, type WantedMetric } from './metrics.ts'

/** The opened source, window and zone of a report. */
export interface ReportSource {
  readonly context: Context
  readonly standard: StandardOptions
  readonly window: SamplingWindow
  readonly zone: Zone
}

/** The command line of a report. Errors are added to `problems`. */
export interface ReportCommand<S> {
  readonly table: OptionTable
  /** Reads the command's own options. An error it throws ends the command. */
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
 * Reads the command line and the environment, opens the source and runs the report. Resolves to the report's exit status, or to 1
 * after printing the usage text. Rejects with PcpError with the message to end the command with.
 */
export async function runReport<S>(
  { table, read }: ReportCommand<S>,
  io: ToolIo,
  report: (source: ReportSource, own: S, io: ToolIo) => Promise<number>,
): Promise<number> {
  const parsed = parseStandard(table, io, { inherits: true, isHighRes: true })
  const { given, operands, problems, standard } = parsed
  const own = read(given, { operands, problems, standard })
  const status = handleEarlyExit(table, parsed, io)
  if (status !== undefined) return status
  const context = await openReport(standard, io)
  try {
    await sendWhoami(context, [io.progname, ...io.args], io)
    const { zone } = await reportingZone(standard, context, io)
    const window = samplingWindow(standard, boundsOf(context, standard, io), zone, io)
    return await report({ context, standard, window, zone }, own, io)
  } catch (error) {
    // PCP's reports end with status 0 on Ctrl-C, which scripts expect.
    if (!isCtrlC(io.signal)) throw error
    return 0
  } finally {
    await context.close()
  }
}

/** When to fetch samples. */
export interface SamplePlan {
  /** Number of fetches; undefined to fetch until the end of the window or archive, or an interrupt. */
  readonly fetches: number | undefined
  readonly intervalSec: number
  readonly origin: Timestamp
  /** Time that samples must precede, unless `fetches` is given. */
  readonly finish: Timestamp
  /** Read the records of an archive without interpolation. */
  readonly isRecorded?: boolean
}

/**
 * Returns the plan of a report whose first sample only starts its counters: `samples` fetches, or as in PCP the number of intervals
 * up to -T or the end.
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

/** Fetches samples as planned. Live, intervals that were missed are skipped. Errors are those of `SampledMetrics.fetch`. */
export function samplesOf(
  context: Context,
  metrics: SampledMetrics,
  { fetches, intervalSec, origin, finish, isRecorded = false }: SamplePlan,
  io: ToolIo,
): SampleSequence<Sample> {
  // The last record counts, but no interval begins at the end.
  const end = isRecorded ? 0 : -1
  return sampleLoop(context, {
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

/** Looks up required metrics; reports missing ones on standard error and resolves to undefined. */
export async function requireMetrics(
  context: Context,
  wanted: readonly WantedMetric[],
  io: ToolIo,
): Promise<SampledMetrics | undefined> {
  const metrics = await SampledMetrics.find(context, wanted, io)
  if (metrics.missing.length === 0) return metrics
  reportMissing(metrics.missing, 'Missing', io)
  return undefined
}

/** Reports missing metrics as PCP does: `Missing ['a', 'b']`. */
export function reportMissing(names: readonly string[], word: string, { stderr }: ToolIo): void {
  const list = names.map((name) => `'${name}'`).join(', ')
  stderr.write(`Error: not all required metrics are available\n${word} [${list}]\n`)
}
