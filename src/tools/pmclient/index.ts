/**
 * pmclient: shows how busy a host is, one line per sample. An example of a program that uses the client library. pmclient(1)
 *
 * Unlike PCP's pmclient, it supports -T, and -O other than at the start of the window.
 */

import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { FetchGroup } from '../../pmapi/fetch-group.ts'
import { sampleLoop } from '../../pmapi/samples.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { Zone } from '../../time/zone.ts'
import { handleEarlyExit, type OptionTable, usageText } from '../lib/options.ts'
import { openReport } from '../lib/source.ts'
import { parseStandard, SAMPLING_ROWS, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type SamplingWindow, samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { type Activity, openActivity } from './activity.ts'
import { heading, rowText } from './report.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.align,
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.namespace,
    ...SAMPLING_ROWS,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Reporting options' },
    { short: 'P', long: 'pause', help: 'replay an archive in real time' },
  ],
}

const DEFAULT_INTERVAL_SEC = 5
const ROWS_A_HEADING = 15

/** Reports processors, memory, disks and load. Exits with status 1 if the source ends first. */
export const tool: Tool = {
  name: 'pmclient',
  summary: 'Show how busy a host is, one line per sample',
  description: `
Each line has the utilization of all processors together, from 0 to 1; on hosts with several processors, the number and utilization
of the busiest one; free memory in megabytes; disk operations per second; and the load averages of 1 and 15 minutes. A question mark
means that there is no value.

The source of this command is a short example of using the client library: it opens a context, sets up the metrics once, fetches
them periodically, and reports errors.`,
  examples: [
    ['pmclient -h db1 -t 10s -s 6', 'Show one minute of db1:'],
    ['pmclient -a 20261120 -S @10:00 -T @11:00 -t 5min', 'Show one hour of an archive:'],
  ],
  seeAlso: ['pmval', 'pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { standard } = parsed
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const pauses = parsed.given.some(({ name }) => name === 'P')
    if (pauses && standard.source !== 'archive')
      throw new PcpError('PM_ERR_ARG', 'pause can only be used with archives')
    if (parsed.operands.length > 0) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const context = await openReport(standard, io)
    try {
      return await report(context, standard, pauses, io)
    } finally {
      await context.close()
    }
  },
}

async function report(
  context: Context,
  standard: StandardOptions,
  pauses: boolean,
  io: ToolIo,
): Promise<number> {
  const { zone, note } = await reportingZone(standard, context, io)
  io.stdout.write(note)
  const { archive } = context
  const bounds = archive === undefined ? undefined : { start: archive.start, end: archive.end() }
  const window = samplingWindow(standard, bounds, zone, io)
  const intervalSec = window.interval === undefined ? DEFAULT_INTERVAL_SEC : toSeconds(window.interval)
  const activity = await openActivity(FetchGroup.over(context), window)
  const name = archive === undefined ? '' : `Archive: ${standard.archives[0]}, `
  const where = `${name}Host: ${await context.hostname(io)}, ${activity.processors} cpu(s), `
  await showRows(context, activity, where, { window, intervalSec, zone, pauses }, io)
  return 0
}

/** Timing of the rows. */
interface Pace {
  readonly window: SamplingWindow
  readonly intervalSec: number
  readonly zone: Zone
  /** Whether to replay an archive in real time. */
  readonly pauses: boolean
}

/** Prints rows. Rates need two samples, so the first sample has no row; neither has the second one of an archive. */
async function showRows(
  context: Context,
  { group, read, processors }: Activity,
  where: string,
  { window, intervalSec, zone, pauses }: Pace,
  io: ToolIo,
): Promise<void> {
  const { origin, finish, samples: count = Number.POSITIVE_INFINITY } = window
  const isLive = context.archive === undefined
  let isFirst = true
  const sampled = sampleLoop(context, {
    origin,
    intervalSec,
    isPaced: isLive || pauses,
    call: io,
    flush: () => io.stdout.flush(),
    take: async () => {
      if (!isLive && isFirst) await group.fetch(io)
      isFirst = false
      await group.fetch(io)
      return group.timestamp!
    },
  })
  const next = async (): Promise<Timestamp> => {
    try {
      const time = await sampled.next()
      if (time === undefined) throw sampled.end!
      return time
    } catch (error) {
      const { code, text } = PcpError.from(error)
      throw new PcpError(code, `pmFetch: ${text}`, { cause: error })
    }
  }
  let time = await next()
  for (let row = 0; row < count; row++) {
    // The heading is printed before the wait, with the time of the previous sample.
    if (row % ROWS_A_HEADING === 0) io.stdout.write(heading(where, time, zone, processors))
    time = await next()
    if (compareTimes(time, finish) > 0) return
    io.stdout.write(rowText(read(), processors))
    await io.stdout.flush()
  }
}
