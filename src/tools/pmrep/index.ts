/**
 * pmrep: reports many metrics over time, as a table, CSV or an archive. pmrep(1). When called as pcp2csv it writes CSV.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fromMillis } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { fileOutput } from '../lib/report/file-output.ts'
import { labelsOf, type MetricLabels } from '../lib/report/label-texts.ts'
import { linesError } from '../lib/report/metrics.ts'
import { type Reporter, type ReportPlan, runReport } from '../lib/report/report.ts'
import type { Settings } from '../lib/report/settings.ts'
import { type ReportRequest, readRequest } from '../lib/report/setup.ts'
import { boundsOf } from '../lib/source.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { reportingZone } from '../lib/zone.ts'
import { bannerLines } from './banner.ts'
import { CsvReporter } from './csv.ts'
import { JsonLinesReporter } from './json-lines.ts'
import { type Layout, layoutOf } from './layout.ts'
import { OPTIONS } from './options.ts'
import { OverallReporter } from './overall.ts'
import { RowReporter, sortKeys } from './rows.ts'
import { TableReporter } from './table.ts'

export const tool: Tool = {
  name: 'pmrep',
  summary: 'Report many metrics over time, in columns',
  description: `
Shows the values of metrics, a line for each sample and a column for each instance; with -X a line for each instance.
Counters are shown as rates unless -r is given.

An operand is a metric, or a name with metrics below it, optionally with a specification:
metric,label,instances,unit,raw,width,precision,limit. Empty fields have defaults. An operand with a colon names a metric set of the
configuration: :vmstat.

The configuration is the first that exists of ./pmrep.conf, $HOME/.pmrep.conf, $HOME/.pcp/pmrep.conf and the files of
$PCP_SYSCONF_DIR/pmrep. The command line takes precedence over it.`,
  examples: [
    ['pmrep -p -s 5 :vmstat', 'Five lines with times of the set vmstat:'],
    [
      'pmrep -a ARCHIVE -t 10m -o csv disk.dev.read',
      'A value of each disk every ten minutes of an archive, for a spreadsheet:',
    ],
    ['pmrep -J 3 -X Process -1 proc.psinfo.rss,rss,,MB', 'The three largest processes:'],
  ],
  seeAlso: ['pmval', 'pmrepconf'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    try {
      const isCsv = io.progname === 'pcp2csv'
      const request = readRequest('pmrep', OPTIONS, io, {
        preset: (settings) => {
          if (isCsv) settings.output = 'csv'
        },
      })
      if (typeof request === 'number') return request
      if (isCsv) request.settings.output = 'csv'
      checkSettings(request.settings, io)
      // Archives copy records: with an interval, values of rarely recorded metrics would be lost.
      if (request.settings.output === 'archive') request.settings.interpol = false
      return await report(request, io)
    } catch (error) {
      if (!(error instanceof PcpError && error.code === 'PM_ERR_GENERIC' && error.message !== '')) throw error
      io.stderr.write(`${error.message}\n`)
      return 1
    }
  },
}

/** Rejects inconsistent settings, and resets ineffective ones. Throws PM_ERR_GENERIC with the line to print. */
function checkSettings(settings: Settings, { cwd }: ToolIo): void {
  const { output, output_file, overall_rank, overall_rank_alt, rank } = settings
  if (output === 'archive') {
    if (output_file === '') throw linesError('Output archive must be defined with archive output.')
    if (existsSync(resolve(cwd, `${output_file}.index`)))
      throw linesError(`Archive ${output_file} already exists.`)
  } else if (output_file !== '' && existsSync(resolve(cwd, output_file)))
    throw linesError(`File ${output_file} already exists.`)
  if ((overall_rank || overall_rank_alt) && rank === 0)
    throw linesError('Overall ranking requires ranking enabled.')
  if (overall_rank || overall_rank_alt) {
    settings.header = false
    settings.colxrow = undefined
    settings.predicate = []
  }
  if (output === 'archive') settings.dynamic_header = false
  if (settings.names_change === 'update') settings.dynamic_header = true
  if (settings.colxrow === undefined || output !== 'stdout' || settings.dynamic_header)
    settings.fixed_header = false
}

async function report(request: ReportRequest, io: ToolIo): Promise<number> {
  const { output_file, output } = request.settings
  const toFile = output_file !== '' && output !== 'archive'
  let out = io.stdout
  const status = await runReport(
    request,
    (plan) => {
      checkRanking(plan)
      checkSort(plan)
      if (toFile) out = fileOutput(resolve(io.cwd, output_file), false)
      return reporterOf(plan, request, out, io)
    },
    io,
    toFile ? undefined : out,
  )
  await out.flush()
  return status
}

/** Throws PM_ERR_GENERIC with the line to print if overall ranking is not possible. */
function checkRanking({ settings, archiveName }: ReportPlan): void {
  const { overall_rank, overall_rank_alt, output } = settings
  if ((overall_rank || overall_rank_alt) && (archiveName === undefined || output !== 'stdout'))
    throw linesError('Overall ranking supported only with archive input and stdout output.')
}

async function reporterOf(
  plan: ReportPlan,
  { settings, standard }: ReportRequest,
  out: ToolIo['stdout'],
  io: ToolIo,
): Promise<Reporter> {
  const write = (text: string): void => out.write(text)
  if (settings.output === 'archive') {
    io.stdout.write(recordingNote(plan))
    const { ArchiveReporter } = await import('./archive-report.ts')
    return new ArchiveReporter(plan, resolve(io.cwd, settings.output_file), io)
  }
  const now = fromMillis(io.now())
  if (settings.extheader && settings.output !== 'json') {
    const { zone: ownZone } = await reportingZone({ zone: undefined, hostzone: false }, plan.context, io)
    const end = boundsOf(plan.context, standard, io)?.end
    write(bannerLines(plan, { ownZone, now, end }, settings.output === 'csv' ? '#' : ''))
  }
  if (settings.overall_rank || settings.overall_rank_alt) return new OverallReporter(plan, write)
  const labels = new Map<string, MetricLabels>()
  if (settings.include_labels)
    for (const metric of plan.metrics) labels.set(metric.name, await labelsOf(plan, metric))
  const rows = screenLines(io)
  const layout = layoutOf(plan, labels, out, { now, rows })
  const reporter = printerOf(layout)
  return plan.archiveName === undefined || settings.delay ? flushing(reporter, out) : reporter
}

/** Returns the height of the terminal, if known. */
function screenLines({ env, stdout }: ToolIo): number | undefined {
  const lines = Number(env['LINES'])
  if (Number.isInteger(lines) && lines > 0) return lines
  return stdout.isTerminal ? process.stdout.rows : undefined
}

/** Flushes after every sample, for readers that follow the output. */
function flushing(reporter: Reporter, out: ToolIo['stdout']): Reporter {
  return {
    begin: async () => {
      await reporter.begin()
      await out.flush()
    },
    sample: async (sample) => {
      await reporter.sample(sample)
      await out.flush()
    },
    end: () => reporter.end(),
  }
}

function printerOf(layout: Layout): Reporter {
  const { output, colxrow } = layout.plan.settings
  if (output === 'csv') return new CsvReporter(layout)
  if (output === 'json') return new JsonLinesReporter(layout)
  return colxrow === undefined ? new TableReporter(layout) : new RowReporter(layout)
}

/** Throws PM_ERR_GENERIC with the line to print if lines cannot be sorted by the metric of -6. */
function checkSort({ settings, metrics }: ReportPlan): void {
  for (const { name } of sortKeys(settings)) {
    const found = metrics.find((metric) => metric.name === name)
    if (found === undefined) throw linesError(`Sort reference metric ${name} not part of metrics.`)
    if (!found.hasInstances || found.insts.length === 0)
      throw linesError('Sort reference metric must have instances.')
  }
}

/** Returns the message printed before recording. */
function recordingNote({ metrics, settings, schedule, archiveName }: ReportPlan): string {
  const what = `Recording ${metrics.length} metrics to ${settings.output_file}`
  const { samples, intervalSec } = schedule
  if (samples === undefined) return `${what}...${archiveName === undefined ? ' (Ctrl-C to stop)' : ''}\n`
  const interval = Number.isInteger(intervalSec) ? `${intervalSec}.0` : String(intervalSec)
  return `${what}:\n${samples} samples(s) with ${interval} sec interval ~ ${Math.trunc((samples - 1) * intervalSec)} sec duration.\n`
}
