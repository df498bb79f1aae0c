/** pcp ss: sockets as ss(8) lists them, live or as they were. pcp-ss(1) */
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

/** Lists sockets. */
export const tool: Tool = {
  name: 'pcp-ss',
  summary: 'List sockets, live or as they were',
  description: `
Lists sockets as ss(8) does, as the agent for sockets knows them: of this host now, or of an archive at the beginning of the time window,
without one at the archive's end. The options are those of ss; the source and the time are said to pcp, before the name of this command:
pcp -a ARCHIVE -S TIME ss.

Which sockets are known is decided by the agent, whose filter the first line shows.`,
  examples: [
    ['pcp ss -t -o', 'TCP connections with their timers:'],
    ['pcp -a 20261120 -S @10:00 ss -lt', 'Who listened at ten o’clock:'],
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
    const hint = isArchive ? '' : 'They come from the agent for sockets, which has to be installed there.\n'
    io.stderr.write(`Error: metrics for 'network.persocket' not found ${where}\n${hint}`)
    return 1
  }
  if (options.unanswerable.length > 0)
    io.stderr.write(`${io.progname}: metrics do not tell what -${options.unanswerable.join(' -')} asks for\n`)
  const { start, origin } = standard.window
  const { archive } = context
  // An archive is shown as it ends; -A moves that moment too.
  const atEnd = { ...standard, window: { ...standard.window, origin: '-0' } }
  const asked =
    archive === undefined || (start ?? origin) !== undefined
      ? window.origin
      : samplingWindow(atEnd, boundsOf(context, standard, io), zone, io).origin
  archive?.setMode('interpolate', asked, 1)
  const sample = await metrics.fetch(io)
  // Behind the last record of a socket, as at the end of an archive, numbers have no values of the moment.
  const before = archive === undefined ? undefined : await metrics.lasts(asked, io)
  if (!sample.has(STATE) && before?.has(STATE) !== true) throw new PcpError('PM_ERR_VALUE')
  if (options.showsHeading) {
    const filter = sample.text(FILTER) ?? before?.text(FILTER) ?? ''
    io.stdout.write(`# Time: ${moment(sample.time, zone)} Filter: ${filter}\n${HEADING}`)
  }
  io.stdout.write(socketLines(sample, before, options))
  return 0
}

/** Without a fraction when there is none. */
function moment({ sec, nsec }: Timestamp, zone: Zone): string {
  return strftime(nsec < 1000 ? '%Y-%m-%d %H:%M:%S' : '%Y-%m-%d %H:%M:%S.%f', sec, zone, nsec)
}
