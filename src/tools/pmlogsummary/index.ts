/**
 * pmlogsummary: prints averages, extremes and distributions of an archive's values. pmlogsummary(1)
 *
 * Output is as in PCP 6.0.3, except that bins (-B) do not change the other columns. docs/explanation/differences.md
 */
import type { Archive } from '../../archive/archive.ts'
import type { Metadata } from '../../archive/metadata.ts'
import { ByteText } from '../../base/byte-text.ts'
import { secondsBetween } from '../../base/timestamp.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { parseMetricSpec } from '../../pmapi/metric-spec.ts'
import type { Pmns } from '../../pmns/tree.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { DAY } from '../../time/calendar.ts'
import { openArchive, writeBriefLabel } from '../lib/archive-input.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { singleLine } from '../lib/print.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import { loadNames } from '../lib/source.ts'
import { parseStandard } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { MetricBins } from './bins.ts'
import { isNumeric, MetricSummary } from './metric-summary.ts'
import { OPTIONS, type SummaryOptions, summaryOptions } from './options.ts'
import { headerLine, InstanceNames, type Report, writeMetric } from './report.ts'
import { nanosSince, type ScanOptions, scanRecords } from './scan.ts'

/** Summarizes an archive. Exits with status 1 if it is not readable to its end. */
export const tool: Tool = {
  name: 'pmlogsummary',
  summary: 'Summarize the values in an archive',
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const wanted = summaryOptions(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [name, ...specs] = parsed.operands
    if (name === undefined) {
      io.stderr.write(`Error: no archive specified\n\n${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const { namespace } = parsed.standard
    const own = namespace === undefined ? undefined : loadNames(namespace, io)
    const input = openArchive(name, parsed.standard, archiveFiles(), io)
    const { archive, end, zone, window } = input
    try {
      const { start, finish } = window
      const length = secondsBetween(start, finish)
      const out = new ByteText()
      const withDate = length > DAY
      const report: Report = {
        archive,
        out,
        wanted,
        zone,
        window: length,
        withDate,
        instances: new InstanceNames(archive),
        form: singleLine(io.stdout),
      }
      if (wanted.label) writeBriefLabel(io.stdout, archive, zone, { start, end: isError(end) ? end : finish })
      const metrics = await findMetrics(own ?? archive.metadata.names, specs, io)
      return await summarize(report, metrics, { start, finish }, io)
    } finally {
      archive.close()
    }
  },
}

/** A metric to report, with the requested instances; empty for all. */
interface WantedMetric {
  readonly name: string
  readonly id: Pmid
  readonly instances: readonly string[]
}

/** Returns the metrics of the operands in name space order, each with its first name; reports unknown operands. */
async function findMetrics(names: Pmns, specs: readonly string[], io: ToolIo): Promise<WantedMetric[]> {
  const metrics = new Map<Pmid, WantedMetric>()
  const add = (below: string, instances: readonly string[]): void =>
    names.walk(below, (name, id) => {
      if (!metrics.has(id)) metrics.set(id, { name, id, instances })
    })
  if (specs.length === 0) add('', [])
  for (const spec of specs) {
    let name = spec
    try {
      const { metric, instances } = parseMetricSpec(spec)
      name = metric
      add(metric, instances)
    } catch (error) {
      const problem = PcpError.from(error)
      if (problem.code === 'PM_ERR_GENERIC') {
        io.stderr.write(problem.message)
        continue
      }
      const hint = await didYouMeanMetric(name, problem, names.traverse(), io)
      io.stderr.write(`${io.progname}: PMNS traversal failed for ${name}: ${problem.text}${hint}\n`)
    }
  }
  return [...metrics.values()]
}

/** Summaries, and how reading ended. */
interface Sums {
  readonly summaries: ReadonlyMap<Pmid, MetricSummary>
  readonly scan: Omit<ScanOptions, 'consumers'>
  /** A metric with values that do not match its descriptor. */
  readonly unreadable: Pmid | undefined
  /** Why the archive could not be read to its end. */
  readonly failure: PcpError | undefined
}

async function summarize(
  report: Report,
  metrics: readonly WantedMetric[],
  range: Pick<ScanOptions, 'start' | 'finish'>,
  io: ToolIo,
): Promise<number> {
  const { wanted, out } = report
  const source = { ...range, ...(wanted.verbose ? { onError: errorReporter(report, io) } : {}) }
  let sums = sumUp(report, metrics, source, io, false)
  // After damage of any kind, a careful second scan determines its nature and extent.
  if (sums.unreadable !== undefined) sums = sumUp(report, metrics, source, io, true)
  const { summaries, scan, unreadable, failure } = sums
  if (unreadable !== undefined) return giveUp(unreadable, report, io)
  if (failure !== undefined) io.stderr.write(`${io.progname}: fetch failed: ${failure.text}\n`)
  const bins =
    wanted.bins === 0 || failure !== undefined ? undefined : countBins(summaries, wanted.bins, scan)
  if (wanted.header) io.stdout.write(headerLine(report))
  for (const { name, id, instances } of metrics) {
    const summary = summaries.get(id)
    if (summary !== undefined) writeMetric(report, { name, summary, bins: bins?.get(id), instances })
  }
  io.stdout.writeBytes(out.written())
  await io.stdout.flush()
  return failure === undefined ? 0 : 1
}

/** Returns a function that reports the first error of each metric. */
function errorReporter({ archive, form }: Report, io: ToolIo): NonNullable<ScanOptions['onError']> {
  const reported = new Set<Pmid>()
  return (id, status) => {
    if (reported.has(id)) return
    reported.add(id)
    const names = form(archive.metadata.names.namesOf(id).join(' or '))
    const { text } = PcpError.fromStatus(status)
    io.stderr.write(`${io.progname}: ${names}(${pmidStr(id)}) - failed in archive value fetch: ${text}\n`)
  }
}

function sumUp(
  { archive, wanted }: Report,
  metrics: readonly WantedMetric[],
  range: Pick<ScanOptions, 'start' | 'finish' | 'onError'>,
  io: ToolIo,
  careful: boolean,
): Sums {
  const summaries = summariesOf(archive, metrics, wanted, io)
  const extend = (time: number): void => {
    for (const summary of summaries.values()) summary.extend(time)
  }
  let unreadable: Pmid | undefined
  const onUnreadable = (id: Pmid): void => {
    unreadable = id
  }
  const scan: Omit<ScanOptions, 'consumers'> = { archive, io, ...range, onMark: extend, onUnreadable }
  let last = 0
  let failure: PcpError | undefined
  try {
    last = scanRecords({ ...scan, consumers: summaries }, careful)
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    failure = error
  }
  const { finish } = range
  extend(Number.isFinite(finish.sec) ? nanosSince(archive.start, finish.sec, finish.nsec) : last)
  return { summaries, scan, unreadable, failure }
}

function summariesOf(
  { metadata }: Archive,
  metrics: readonly WantedMetric[],
  wanted: SummaryOptions,
  { env }: ToolIo,
): Map<Pmid, MetricSummary> {
  const wraps = env['PCP_COUNTER_WRAP'] !== undefined
  const { stochastic, sum, minimum, minimumTime, maximum, maximumTime, count, bins } = wanted
  const isBrief = ![stochastic, sum, minimum, minimumTime, maximum, maximumTime, count, bins > 0].includes(
    true,
  )
  const summaries = new Map<Pmid, MetricSummary>()
  for (const { id } of metrics) {
    const desc = metadata.descs.get(id)
    if (desc !== undefined && isNumeric(desc.type) && !summaries.has(id))
      summaries.set(
        id,
        new MetricSummary(desc, { wraps, isBrief, keepsUnits: sum, room: roomFor(metadata, desc.indom) }),
      )
  }
  return summaries
}

/** Returns the maximum number of instances a domain has at a time. */
function roomFor(metadata: Metadata, indom: Indom): number {
  let room = 1
  if (indom !== PM_INDOM_NULL)
    for (const { ids } of metadata.snapshots(indom)) room = Math.max(room, ids.length)
  return room
}

/** Counts values in bins: the second pass. */
function countBins(
  summaries: ReadonlyMap<Pmid, MetricSummary>,
  count: number,
  scan: Omit<ScanOptions, 'consumers'>,
): Map<Pmid, MetricBins> {
  const bins = new Map<Pmid, MetricBins>()
  for (const [id, summary] of summaries) bins.set(id, new MetricBins(summary, count))
  scanRecords({ ...scan, consumers: bins, onMark: () => {}, onError: () => {} })
  return bins
}

/** Reports a metric with values that do not match its descriptor, instead of any other output. */
function giveUp(id: Pmid, { archive, wanted }: Report, io: ToolIo): number {
  const { text } = new PcpError('PM_ERR_CONV')
  const name = archive.metadata.names.namesOf(id)[0] ?? ''
  if (wanted.verbose)
    io.stderr.write(`${io.progname}: ${name}(${pmidStr(id)}) - failed to extract value: ${text}\n`)
  io.stderr.write(`${io.progname}: possibly corrupt archive?\n`)
  return 1
}
