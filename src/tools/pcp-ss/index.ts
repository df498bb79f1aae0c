/** pcp ss: lists sockets like ss(8), live or from archives. pcp-ss(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import { SampledMetrics } from '../lib/sampled/metrics.ts'
import { type ReportSource, runReport } from '../lib/sampled/report.ts'
import { boundsOf } from '../lib/source.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { HEADING, METRICS, socketLines } from './lines.ts'
import { OPTIONS, readOptions, type SsOptions } from './options.ts'

const FILTER = 'network.persocket.filter'
const STATE = 'network.persocket.state'

export const tool: Tool = {
  name: 'pcp-ss',
  summary: 'List sockets, live or from an archive',
  description: `
Lists sockets like ss(8), as exported by the sockets agent: currently on this host, or in an archive at the start of the time window or,
without a window, at the archive's end. The options are those of ss; source and time are options of pcp, before the name of this command:
pcp -a ARCHIVE -S TIME ss.

The agent selects the sockets with the filter shown in the first line.`,
  examples: [
    ['pcp ss -t -o', 'TCP connections with their timers:'],
    ['pcp -a 20261120 -S @10:00 ss -lt', 'Listening sockets at ten o’clock:'],
  ],
  seeAlso: ['pcp', 'pminfo'],
  options: OPTIONS,
  run: async (io) => runReport({ table: OPTIONS, read: readOptions }, io, report),
}

async function report(
  { context, standard, window, zone }: ReportSource,
  options: SsOptions,
  io: ToolIo,
): Promise<number> {
  const metrics = await SampledMetrics.find(context, METRICS, io)
  if (!metrics.has(STATE)) {
    const isArchive = context.archive !== undefined
    const where = isArchive
      ? `in archive ${standard.archives.join(',')}`
      : `on host ${standard.hosts[0] ?? 'local:'}`
    const hint = isArchive ? '' : 'The sockets agent must be installed there.\n'
    io.stderr.write(`Error: metrics for 'network.persocket' not found ${where}\n${hint}`)
    return 1
  }
  if (options.unsupported.length > 0)
    io.stderr.write(`${io.progname}: no metrics for option -${options.unsupported.join(' -')}\n`)
  const { start, origin } = standard.window
  const { archive } = context
  // The end of an archive is shown, unless -A moves it.
  const atEnd = { ...standard, window: { ...standard.window, origin: '-0' } }
  const asked =
    archive === undefined || (start ?? origin) !== undefined
      ? window.origin
      : samplingWindow(atEnd, boundsOf(context, standard, io), zone, io).origin
  archive?.setMode('interpolate', asked, 1)
  const sample = await metrics.fetch(io)
  // After the last record of a socket, as at the end of an archive, numbers have no interpolated value.
  const before = archive === undefined ? undefined : await metrics.lastValues(asked, io)
  if (!sample.has(STATE) && before?.has(STATE) !== true) throw new PcpError('PM_ERR_VALUE')
  if (options.showsHeading) {
    const filter = sample.text(FILTER) ?? before?.text(FILTER) ?? ''
    io.stdout.write(`# Time: ${moment(sample.time, zone)} Filter: ${filter}\n${HEADING}`)
  }
  io.stdout.write(socketLines(sample, before, options))
  return 0
}

/** Formats a time without an empty fraction. */
function moment({ sec, nsec }: Timestamp, zone: Zone): string {
  return strftime(nsec < 1000 ? '%Y-%m-%d %H:%M:%S' : '%Y-%m-%d %H:%M:%S.%f', sec, zone, nsec)
}
