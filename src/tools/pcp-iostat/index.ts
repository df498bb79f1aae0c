/** pcp iostat, also known as pmiostat: disk activity, a line for each disk and sample. pcp-iostat(1) */
import { toSeconds } from '../../base/timestamp.ts'
import { ctime } from '../../time/stamp.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import { type ReportSource, requireMetrics, runReport, samplesOf } from '../lib/sampled/report.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { activities, aggregate, isIdle, metricsOf } from './figures.ts'
import { type IostatOptions, OPTIONS, readOptions } from './options.ts'
import { COLUMNS, Table } from './table.ts'

/** Samples between headings. */
const SAMPLES_A_HEADING = 23

export const tool: Tool = {
  name: 'pcp-iostat',
  summary: 'Show disk activity, a line for each disk and sample',
  description: `
The columns are, a second: merged requests (rrqm/s, wrqm/s), requests (r/s, w/s), and kilobytes read and written (rkB/s, wkB/s); then
the size of a request in kilobytes (avgrq-sz), the average number of requests in progress (avgqu-sz), the milliseconds a request took
(await, and r_await and w_await for reads and writes), and the percentage of time the disk was busy (%util).

A question mark is shown for a missing value, because a disk is new or its counters restarted. With -x t a line NODATA is shown for
times before the first known values. The first sample only starts the counters.`,
  examples: [
    ['pcp iostat -t 5 -s 12 -x t', 'A minute of this host, with times:'],
    ["pcp -a 20261120 iostat -t 10m -R 'sd[a-z]' -G sum", 'All disks of an archive together:'],
  ],
  seeAlso: ['pcp', 'pcp-vmstat', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: async (io) =>
    runReport({ table: OPTIONS, read: (given, { standard }) => readOptions(given, standard) }, io, report),
}

async function report(source: ReportSource, options: IostatOptions | string, io: ToolIo): Promise<number> {
  if (typeof options === 'string') {
    // Errors about -u go to standard output, where scripts made for PCP expect them.
    const output = options.includes('-u') ? io.stdout : io.stderr
    output.write(`${options}\n`)
    return 1
  }
  const { context, window, zone } = source
  const group = options.showsMapped ? 'disk.dm' : 'disk.dev'
  const metrics = await requireMetrics(context, metricsOf(group), io)
  if (metrics === undefined) return 1
  const table = new Table(options.precision, options.showsTime)
  const plan = {
    // The first sample only starts the counters.
    fetches: window.samples === undefined || window.samples === 0 ? undefined : window.samples + 1,
    intervalSec: window.interval === undefined ? 1 : toSeconds(window.interval),
    origin: window.origin,
    finish: window.finish,
    isRecorded: options.isRecorded,
  }
  let before: Sample | undefined
  let shown = 0
  for await (const now of samplesOf(context, metrics, plan, io)) {
    if (before !== undefined) {
      if (options.showsHeading && shown++ % SAMPLES_A_HEADING === 0) io.stdout.write(table.heading())
      const stamp = options.showsTime ? ctime(now.time.sec, zone) : ''
      io.stdout.write(rows(table, stamp, { group, before, now }, options))
    }
    before = now
  }
  return 0
}

interface Step {
  readonly group: string
  readonly before: Sample
  readonly now: Sample
}

function rows(table: Table, stamp: string, { group, before, now }: Step, options: IostatOptions): string {
  if (!before.has(`${group}.read`)) return options.showsTime ? table.row(stamp, 'NODATA', undefined) : ''
  const all = activities(group, before, now).filter(({ device }) => options.pattern.test(device))
  const { aggregation, pattern } = options
  if (aggregation !== undefined) {
    const name = `${aggregation}(${pattern.source === '(?:)' ? '.*' : pattern.source})`
    return table.row(stamp, name, aggregate(aggregation, all, COLUMNS.length))
  }
  const wanted = options.showsIdle ? all : all.filter((activity) => !isIdle(activity))
  return wanted.map(({ device, figures }) => table.row(stamp, device, figures)).join('')
}
