/**
 * pmclient: how busy a host is, a line a sample; and an example of a program that uses the client library. pmclient(1)
 *
 * Unlike PCP's it heeds -T, and -O where it is not the start of the window.
 */

import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { FetchGroup } from '../../pmapi/fetch-group.ts'
import { samples } from '../../pmapi/samples.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { Zone } from '../../time/zone.ts'
import { endEarly, type OptionTable, usageText } from '../lib/options.ts'
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
    { short: 'P', long: 'pause', help: 'wait between the samples of an archive, as if it were now' },
  ],
}

const DEFAULT_INTERVAL_SEC = 5
const ROWS_A_HEADING = 15

/** Reports on processors, memory, disks and load. Ends with status 1 when the source ends first. */
export const tool: Tool = {
  name: 'pmclient',
  summary: 'Show how busy a host is, a line a sample',
  description: `
Each line has the utilisation of all processors together, from 0 to 1; on hosts with more than one, which of them is busiest
and how busy it is; free memory in megabytes; operations of all disks a second; and the load averages of 1 and of 15 minutes.
A question mark stands where there is no value.

The source of this command is short, and an example of how a program uses the client library: it opens a context, tells what
it wants once, fetches again and again, and says what is wrong where something is.`,
  examples: [
    ['pmclient -h db1 -t 10s -s 6', 'A minute of db1:'],
    ['pmclient -a 20261120 -S @10:00 -T @11:00 -t 5min', 'An hour of an archive:'],
  ],
  seeAlso: ['pmval', 'pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const { standard } = parsed
    const status = endEarly(OPTIONS, parsed, io)
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

/** When rows are shown. */
interface Pace {
  readonly window: SamplingWindow
  readonly intervalSec: number
  readonly zone: Zone
  /** Whether samples of an archive wait for each other. */
  readonly pauses: boolean
}

/** Rates need two samples: the first one makes no row, nor does the second one of an archive. */
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
  const sampled = samples(context, {
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
    // The heading comes before the wait, with the time of the sample before.
    if (row % ROWS_A_HEADING === 0) io.stdout.write(heading(where, time, zone, processors))
    time = await next()
    if (compareTimes(time, finish) > 0) return
    io.stdout.write(rowText(read(), processors))
    await io.stdout.flush()
  }
}
