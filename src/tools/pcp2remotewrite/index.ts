/** pcp2remotewrite: sends metric values to a receiver of Prometheus Remote Write. docs/how-to/send-to-prometheus.md */
import { resolve } from 'node:path'
import { Archive } from '../../archive/archive.ts'
import { doublingDelays } from '../../base/backoff.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { QueueOptions } from '../../remote-write/archive-queue.ts'
import { ArchiveTree } from '../../remote-write/archive-tree.ts'
import { PostClient } from '../../remote-write/http.ts'
import { sendLive } from '../../remote-write/live.ts'
import type { Unsent } from '../../remote-write/metric-series.ts'
import { openPositions, volatilePositions } from '../../remote-write/positions.ts'
import { Sender } from '../../remote-write/sender.ts'
import { Shipper } from '../../remote-write/shipper.ts'
import { waitFor } from '../../remote-write/wait.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { handleEarlyExit } from '../lib/options.ts'
import { openContext } from '../lib/source.ts'
import { type ParsedStandard, parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type ArchiveBounds, openWindow, orderedWindow } from '../lib/window.ts'
import { namedZone, processTimeZone } from '../lib/zone.ts'
import { OPTIONS, ownOptions, type RemoteWriteOptions } from './options.ts'

const TIMEOUT_MS = 30_000
const DELAYS_MS = doublingDelays(500, 60_000)
const INTERVAL_SEC = 60
const POLL_SEC = 2
const SCAN_MS = 30_000
const BATCH_BYTES = 8 << 20
const MOST_SERIES = 1_000_000

export const tool: Tool = {
  name: 'pcp2remotewrite',
  summary: 'Send values of metrics to Prometheus, VictoriaMetrics, Mimir or Thanos',
  description: `
Sends values to a receiver of Prometheus Remote Write, version 2.0 or 1.0: all records of archives (-a), those of a recorder or a farm as
they are written (--follow), or samples of a collector (-h). Operands select metrics or nodes above them; without any, all metrics with
numbers are sent. Counters are sent as they are, with type, units and help text. Series that end get a staleness marker.

The interval of -t is that of samples of a collector, by default 60 seconds, or that in which archives are read again, by default 2.

Archives are the queue: with --state the position in them is stored when the receiver has acknowledged what is before it, and the next run
continues there. While a receiver is away or busy, requests are repeated without end. Data that the receiver refuses as bad is counted and
skipped; the exit status is then 1. Values of a collector are not kept while they cannot be sent.`,
  examples: [
    ['pcp2remotewrite -a ARCHIVE -u http://localhost:9090/api/v1/write', 'All values of an archive:'],
    [
      'pcp2remotewrite --follow /var/log/pcp/pmlogger --state /var/lib/pcp/remote-write -c account.conf',
      'All archives of a farm, as they grow:',
    ],
    [
      'pcp2remotewrite -u http://localhost:8428/api/v1/write -t 10 kernel.all disk.dev',
      'This host, every 10 seconds:',
    ],
  ],
  seeAlso: ['pcp2openmetrics', 'pcp2influxdb', 'pmlogger'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    try {
      return await send(ownOptions(parsed.given, io), parsed, io)
    } catch (error) {
      if (io.signal.aborted) return 0
      if (!(error instanceof PcpError)) throw error
      io.stderr.write(`${io.progname}: ${error.message}\n`)
      return 1
    }
  },
}

async function send(
  options: RemoteWriteOptions,
  { standard, operands }: ParsedStandard,
  io: ToolIo,
): Promise<number> {
  const { url, account, directories, protocol, labels, batch } = options
  const report = (line: string): void => io.stderr.write(`${io.progname}: ${line}\n`)
  const isWanted = (metric: string): boolean =>
    operands.length === 0 || operands.some((name) => metric === name || metric.startsWith(`${name}.`))
  const client = new PostClient(url, account.tls)
  const sender = new Sender(client, {
    protocol,
    headers: account.headers,
    timeoutMs: TIMEOUT_MS,
    delaysMs: DELAYS_MS,
    wait: waitFor,
    now: Date.now,
    report,
  })
  const unsent: Unsent = { unreadable: 0, late: 0 }
  const limits = { samples: batch, bytes: BATCH_BYTES }
  const common = { isWanted, labels, unsent, report }
  let problems = 0
  try {
    if (standard.archives.length === 0 && directories.length === 0) {
      const context = await openContext(standard, io)
      try {
        const { samples } = standard
        const intervalSec = intervalOf(standard, INTERVAL_SEC)
        const live = { names: operands, intervalSec, count: samples, limits, sender, now: io.now }
        await sendLive(context, { ...common, ...live }, io.signal)
      } finally {
        await context.close()
      }
    } else {
      const count = (line: string): void => {
        problems++
        report(line)
      }
      await sendArchives(options, standard, { sender, limits, queue: { ...common, report: count } }, io)
    }
  } finally {
    client.close()
    const { samples, requests, bytes, retries, refused, repeated } = sender.counts
    io.stdout.write(
      `sent ${samples} samples in ${requests} requests of ${bytes} bytes with Remote Write ${sender.version}.0` +
        `${retries > 0 ? `, ${retries} repeated` : ''}${refused > 0 ? `, ${refused} samples refused` : ''}` +
        `${repeated > 0 ? `, ${repeated} samples that had been sent before` : ''}` +
        `${unsent.unreadable > 0 ? `, ${unsent.unreadable} values unreadable` : ''}` +
        `${unsent.late > 0 ? `, ${unsent.late} values not later than those before` : ''}\n`,
    )
  }
  return sender.counts.refused + sender.counts.unwritten + problems > 0 ? 1 : 0
}

/** The parts that sending archives shares with live values. */
interface Parts {
  readonly sender: Sender
  readonly limits: { readonly samples: number; readonly bytes: number }
  readonly queue: Omit<QueueOptions, 'files'>
}

async function sendArchives(
  { url, directories, state, shards }: RemoteWriteOptions,
  standard: StandardOptions,
  { sender, limits, queue }: Parts,
  io: ToolIo,
): Promise<void> {
  const positions = state === undefined ? volatilePositions() : await openPositions(state, url.href)
  try {
    const files = archiveFiles()
    const archives = standard.archives
      .flatMap((names) => names.split(','))
      .map((name) => resolve(io.cwd, name))
    const isFollowing = directories.length > 0
    const options = { ...queue, ...timeWindow(standard, archives, isFollowing, io), files }
    const tree = new ArchiveTree({ archives, directories }, options, positions)
    await new Shipper({
      tree,
      positions,
      sender,
      limits,
      shards,
      pollMs: isFollowing ? 1000 * intervalOf(standard, POLL_SEC) : undefined,
      scanMs: SCAN_MS,
      mostSeries: MOST_SERIES,
      wait: waitFor,
    }).run(io.signal)
  } finally {
    positions.close()
  }
}

function intervalOf({ interval }: StandardOptions, presetSec: number): number {
  return interval === undefined ? presetSec : interval.sec + interval.nsec / 1e9
}

/** Returns the bounds of -S and -T; with directories, relative times count from now. */
function timeWindow(
  standard: StandardOptions,
  archives: readonly string[],
  isFollowing: boolean,
  io: ToolIo,
): Pick<QueueOptions, 'start' | 'finish'> {
  const { start, finish } = standard.window
  if (start === undefined && finish === undefined) return {}
  const zone = standard.zone === undefined ? processTimeZone(io) : namedZone(standard.zone, io)
  if (isFollowing) return openWindow(standard.window, zone, io)
  const window = orderedWindow(standard, boundsOf(archives), zone, io)
  return {
    start: start === undefined ? undefined : window.start,
    finish: finish === undefined ? undefined : window.finish,
  }
}

function boundsOf(archives: readonly string[]): ArchiveBounds {
  const archive = Archive.open(archives, archiveFiles())
  try {
    const end = archive.end()
    return { start: archive.start, end: isError(end) ? FOREVER : end }
  } finally {
    archive.close()
  }
}
