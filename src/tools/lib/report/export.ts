/** Shared by exporters: options, metadata of metrics, times, progress notes. pcp2json(1), pcp2xml(1) */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { formatF } from '../../../base/printf.ts'
import { secondsBetween, type Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import type { Option, OptionTable } from '../options.ts'
import type { Output, ToolIo } from '../tool.ts'
import { fileOutput } from './file-output.ts'
import { labelsOf, type MetricLabels } from './label-texts.ts'
import { linesError, type ReportMetric } from './metrics.ts'
import {
  CHECK_ROW,
  CONFIG_ROW,
  END_ROWS,
  REPORT_OPTIONS as R,
  type ReportOption,
  SOURCE_ROWS,
  TIME_ROWS,
} from './options.ts'
import { type Reporter, type ReportPlan, runReport } from './report.ts'
import type { Settings } from './settings.ts'
import { readRequest } from './setup.ts'
import { StampWriter, utcOffset } from './stamps.ts'
import { type Cell, isReal } from './values.ts'
import { semanticsName, typeName } from './words.ts'

/** The input of an exporter. */
export interface ExportInput {
  readonly plan: ReportPlan
  readonly out: Output
  /** By metric name; empty unless labels are requested. */
  readonly labels: ReadonlyMap<string, MetricLabels>
  readonly stamps: StampWriter
  /** As shown in documents: the archive, or the host as the user named it. */
  readonly source: string
  /** `UTC+1`. */
  readonly offset: string
  /** Lines describing the export; empty with -H. */
  readonly notes: readonly string[]
}

/** The parts that differ between exporters. */
export interface Exporter {
  /** Also the name of its configuration file. */
  readonly name: string
  readonly table: OptionTable
  /** Without operands it exports all metrics whose values it can write. */
  readonly takesAll?: boolean
  /** Settings that differ from the defaults. */
  readonly preset?: Partial<Settings>
  make(work: ExportInput): Reporter | Promise<Reporter>
}

type TableRow = Option | { readonly heading: string }

/** Options of exporters that write documents: how much metadata they include. */
export const DOCUMENT_ROWS: readonly ReportOption[] = [
  R.header,
  R.type,
  R.type_prefer,
  { short: 'x', long: 'with-extended', key: 'extended', value: 'yes', help: 'include types and semantics' },
  {
    short: 'X',
    long: 'with-everything',
    key: 'everything',
    value: 'yes',
    help: 'include PMIDs, instance domains and instance numbers',
  },
]

/** Returns the rows of an exporter's table; `own` are its additional options. */
export function exporterRows(own: readonly ReportOption[]): TableRow[] {
  return tableRows([R.output_file], [R.timefmt, R.include_labels], own)
}

/** Returns the rows of an exporter that sends to a server; `own` are its additional options. */
export function senderRows(own: readonly ReportOption[]): TableRow[] {
  return tableRows([], [], [R.type, R.type_prefer, R.header, ...own])
}

function tableRows(
  destination: readonly ReportOption[],
  format: readonly ReportOption[],
  own: readonly ReportOption[],
): TableRow[] {
  return [
    { heading: 'Source and destination' },
    ...SOURCE_ROWS,
    CONFIG_ROW,
    CHECK_ROW,
    ...destination,
    R.derived,
    R.daemonize,
    { heading: 'When' },
    ...TIME_ROWS,
    { heading: 'What' },
    R.globals,
    R.instances,
    R.live_filter,
    R.invert_filter,
    R.rank,
    R.limit_filter,
    R.limit_filter_force,
    R.predicate,
    R.omit_flat,
    R.names_change,
    R.ignore_incompat,
    R.ignore_unknown,
    { heading: 'Format' },
    R.precision,
    R.precision_force,
    R.count_scale,
    R.count_scale_force,
    R.space_scale,
    R.space_scale_force,
    R.time_scale,
    R.time_scale_force,
    ...format,
    ...own,
    { heading: 'General' },
    ...END_ROWS,
  ]
}

/** Default seconds between samples, longer than for reports on a terminal. */
const INTERVAL = '60'
const FORMAT = '%Y-%m-%d %H:%M:%S'

/** Runs an exporter; returns the exit status. */
export async function runExporter(exporter: Exporter, io: ToolIo): Promise<number> {
  try {
    const request = readRequest(exporter.name, exporter.table, io, {
      preset: (settings) => {
        settings.interval = INTERVAL
      },
      takesAll: exporter.takesAll === true,
    })
    if (typeof request === 'number') return request
    const { settings, standard } = request
    Object.assign(settings, exporter.preset)
    // Archives are exported as recorded unless an interval is given.
    settings.interpol = settings.interval !== INTERVAL || request.hasInterval
    const file = settings.output_file
    if (file !== '' && existsSync(resolve(io.cwd, file))) throw linesError(`File ${file} already exists.`)
    let out = io.stdout
    const source = standard.source === 'local' ? '@' : (standard.hosts[0] ?? 'local:')
    const status = await runReport(
      request,
      async (plan) => {
        if (file !== '') out = fileOutput(resolve(io.cwd, file), request.isCheck)
        return exporter.make(await workOf(plan, source, out))
      },
      io,
    )
    await out.flush()
    return status
  } catch (error) {
    if (!(error instanceof PcpError && error.code === 'PM_ERR_GENERIC' && error.message !== '')) throw error
    io.stderr.write(`${error.message}\n`)
    return 1
  }
}

async function workOf(plan: ReportPlan, host: string, out: Output): Promise<ExportInput> {
  const { settings, zone, schedule, archiveName, metrics } = plan
  const labels = new Map<string, MetricLabels>()
  if (settings.include_labels || settings.everything)
    for (const metric of metrics) labels.set(metric.name, await labelsOf(plan, metric))
  return {
    plan,
    out,
    labels,
    stamps: new StampWriter(settings.timefmt ?? FORMAT, zone),
    source: archiveName ?? host,
    offset: utcOffset(zone, schedule.origin.sec),
    notes: settings.header ? notesOf(plan) : [],
  }
}

/** Returns two lines describing the export; the caller puts a verb before the first. */
function notesOf({ metrics, settings, schedule, archiveName }: ReportPlan): readonly string[] {
  const where = settings.output_file || 'stdout'
  const kind = archiveName === undefined ? '' : 'archived '
  const { samples, intervalSec } = schedule
  const what = `${metrics.length} ${kind}metrics to ${where}`
  if (samples === undefined || archiveName !== undefined) return [`${what}...`, 'Ctrl-C to stop']
  const interval = Number.isInteger(intervalSec) ? `${intervalSec}.0` : String(intervalSec)
  const runtime = Math.trunc((samples - 1) * intervalSec)
  return [`${what}:`, `${samples} samples(s) with ${interval} sec interval ~ ${runtime} sec runtime.`]
}

/** Whole seconds since the previous sample. */
export class Elapsed {
  #before: Timestamp | undefined

  /** Returns those of this sample; 0 for the first. */
  next(time: Timestamp): number {
    const seconds = this.#before === undefined ? 0 : Math.floor(secondsBetween(this.#before, time) + 0.5)
    this.#before = time
    return seconds
  }
}

/** Formats a value for documents. */
export function valueText(metric: ReportMetric, cell: NonNullable<Cell>): string {
  if (typeof cell === 'string' || !isReal(metric)) return String(cell)
  const value = Number(cell)
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  return formatF(value, metric.precision)
}

/** Returns a metric's type in words. */
export function typeText({ desc }: ReportMetric): string {
  return typeName(desc)
}

/** Returns a metric's semantics in one word. */
export function semanticsText({ desc }: ReportMetric): string {
  return semanticsName(desc)
}

/** Metrics as a tree of the parts of their names. */
export interface NameTree<T> {
  readonly children: Map<string, NameTree<T>>
  leaf: T | undefined
}

/** Makes an empty tree. */
export function newTree<T>(): NameTree<T> {
  return { children: new Map(), leaf: undefined }
}

/** Adds a leaf by its name. */
export function addLeaf<T>(tree: NameTree<T>, name: string, leaf: T): void {
  let node = tree
  for (const part of name.split('.')) {
    const next = node.children.get(part) ?? newTree<T>()
    node.children.set(part, next)
    node = next
  }
  node.leaf = leaf
}

/** Returns the children of a node in alphabetical order. */
export function sortedChildren<T>({ children }: NameTree<T>): readonly (readonly [string, NameTree<T>])[] {
  return [...children].sort(([a], [b]) => (a < b ? -1 : 1))
}
