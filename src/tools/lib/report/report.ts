/** Runs a report: opens the source, resolves metrics, and passes samples to a reporter. pmrep(1), pcp2json(1) */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { oneLine } from '../../../base/printable.ts'
import { secondsBetween, type Timestamp } from '../../../base/timestamp.ts'
import { isFault, parseExpr } from '../../../derive/parse.ts'
import { PcpError } from '../../../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, type Pmid } from '../../../model/ids.ts'
import { exclude, include } from '../../../model/profile.ts'
import type { ValueColumns } from '../../../model/value-columns.ts'
import { PMCD_ADD_AGENT, PMCD_DROP_AGENT, PMCD_NAMES_CHANGE } from '../../../model/values.ts'
import type { Context } from '../../../pmapi/context.ts'
import { type ColumnCursor, valueRows } from '../../../pmapi/value-rows.ts'
import { sendWhoami } from '../../../pmapi/whoami.ts'
import type { Zone } from '../../../time/zone.ts'
import { fetchError } from '../fetch-error.ts'
import { isCtrlC } from '../interrupt.ts'
import { boundsOf, openContext } from '../source.ts'
import type { Output, ToolIo } from '../tool.ts'
import { type SamplingWindow, samplingWindow } from '../window.ts'
import { reportingZone } from '../zone.ts'
import { continueInBackground, isInBackground, notifyHeadingsWritten } from './background.ts'
import { findMetrics, linesError, type ReportMetric } from './metrics.ts'
import { keepPlaces, predicatesOf, SampleFilter } from './sample-filter.ts'
import { positionArchive, type Schedule, sampleTimes, scheduleOf } from './schedule.ts'
import { checkValues, type Settings } from './settings.ts'
import type { Derived, ReportRequest } from './setup.ts'
import { MetricReader } from './values.ts'

/** The source, metrics and schedule of a report, resolved before the first sample. */
export interface ReportPlan {
  readonly settings: Settings
  readonly context: Context
  readonly schedule: Schedule
  readonly zone: Zone
  /** As the user named it; undefined for live values. */
  readonly archiveName: string | undefined
  readonly host: string
  metrics: readonly ReportMetric[]
  /** Returns the name of an instance; '' if it has none. */
  readonly nameOf: (metric: ReportMetric, inst: number) => string
  /** Records the names of the metrics' instances. */
  readonly learn: () => void
}

/** One sample, with one element for each metric of the plan. */
export interface Sample {
  readonly time: Timestamp
  readonly values: readonly ValueColumns[]
}

/** Prints samples. */
export interface Reporter {
  /** Prints headings before any sample. */
  begin(): void | Promise<void>
  /** Prints a sample, whose values are only valid until the next one. */
  sample(sample: Sample): void | Promise<void>
  /** Called after the last sample, also if the user interrupts. */
  end(): void | Promise<void>
}

/**
 * Opens the source, resolves metrics and passes samples to the reporter. Resolves to the exit status. Rejects with PcpError:
 * PM_ERR_GENERIC with lines to print unchanged, others as commands print them. `out` is the output of reports for people.
 */
export async function runReport(
  request: ReportRequest,
  makeReporter: (plan: ReportPlan) => Reporter | Promise<Reporter>,
  io: ToolIo,
  out?: Pick<Output, 'isTerminal'>,
): Promise<number> {
  const isDaemon = request.settings.daemonize
  if (isDaemon && !isInBackground(io.env)) return continueInBackground()
  const context = await open(request, io)
  if (out?.isTerminal) context.formNames(oneLine)
  try {
    await sendWhoami(context, [io.progname, ...io.args], io)
    const plan = await makePlan(context, request, io)
    const reading = new SampleReader(plan, io)
    const reporter = await makeReporter(plan)
    await reporter.begin()
    if (isDaemon) {
      await io.stdout.flush()
      notifyHeadingsWritten()
    }
    return request.isCheck ? 0 : await runSamples(plan, request, reading, reporter, io)
  } finally {
    await context.close()
  }
}

async function open({ derived, standard }: ReportRequest, io: ToolIo): Promise<Context> {
  const files = derived.flatMap((each) => ('file' in each ? [each.file] : []))
  for (const file of files)
    if (!existsSync(resolve(io.cwd, file)))
      throw linesError(
        `Failed to load derived metric definitions from file '${file}':\nNo such file or directory.`,
      )
  return openContext({ ...standard, derived: { files } }, io)
}

async function makePlan(context: Context, request: ReportRequest, io: ToolIo): Promise<ReportPlan> {
  const { settings, standard } = request
  const { zone } = await reportingZone(standard, context, io)
  const window = windowOf(context, standard, zone, io)
  checkValues(settings)
  const broken = await define(context, request.derived, io)
  const metrics = await findMetrics(context, withPredicates(request), { settings, broken }, io)
  predicatesOf(metrics, settings)
  const isRecorded = context.archive !== undefined && !settings.interpol
  const schedule = scheduleOf(window, standard.window.finish !== undefined, isRecorded)
  // Labels are those at the start of the report.
  if (context.archive !== undefined) positionArchive(context.archive, schedule, settings)
  const archiveName = context.archive === undefined ? undefined : standard.archives.join(',')
  const names = new Map<Indom, Map<number, string>>()
  const plan: ReportPlan = {
    settings,
    context,
    schedule,
    zone,
    archiveName,
    host: await context.hostname(io),
    metrics,
    nameOf: ({ desc, hasInstances }, inst) =>
      hasInstances ? (names.get(desc.indom)?.get(inst) ?? String(inst)) : '',
    learn: () => {
      for (const { desc, insts, names: texts } of plan.metrics) {
        const known = names.get(desc.indom) ?? new Map<number, string>()
        for (const [i, inst] of insts.entries()) known.set(inst, texts[i]!)
        names.set(desc.indom, known)
      }
    },
  }
  plan.learn()
  return plan
}

/** Resolves the time window. Throws PM_ERR_GENERIC with the lines to print. */
function windowOf(
  context: Context,
  standard: ReportRequest['standard'],
  zone: Zone,
  io: ToolIo,
): SamplingWindow {
  try {
    return samplingWindow(standard, boundsOf(context, standard, io), zone, io)
  } catch (error) {
    const { code, message } = PcpError.from(error)
    throw code === 'PM_ERR_GENERIC' ? linesError(`${io.progname}: ${message}`) : error
  }
}

/** Adds predicates that are not among the reported metrics. */
function withPredicates({ specs, settings }: ReportRequest): ReportRequest['specs'] {
  const more = settings.predicate.filter((name) =>
    specs.every((spec) => spec.name !== name && !name.startsWith(`${spec.name}.`)),
  )
  const nothing = {
    label: undefined,
    instances: [],
    unit: undefined,
    type: undefined,
    width: undefined,
    precision: undefined,
    limit: undefined,
  }
  return [...specs, ...more.map((name) => ({ name, ...nothing }))]
}

/** Defines derived metrics; returns those whose operands the source lacks. */
async function define(
  context: Context,
  derived: readonly Derived[],
  io: ToolIo,
): Promise<ReadonlySet<string>> {
  const broken = new Set<string>()
  for (const each of derived) {
    if ('file' in each) continue
    try {
      if (each.unlessKnown && (await isKnown(context, each.name, io))) continue
      await context.addDerived(each.name, each.expression, io)
    } catch (error) {
      const { code, message, cause } = PcpError.from(error)
      if (code === 'ECANCELED') throw error
      if (isFault(parseExpr(each.expression)))
        throw linesError(`Failed to register derived metric:\n${message.trimEnd()}`)
      if (cause instanceof PcpError) io.stderr.write(`${cause.message}\n`)
      broken.add(each.name)
    }
  }
  return broken
}

async function isKnown(context: Context, name: string, io: ToolIo): Promise<boolean> {
  const [id] = await context.lookupNames([name], io)
  return typeof id === 'number'
}

/** Passes samples to the reporter until the end of the schedule or an interrupt. Resolves to the exit status. */
async function runSamples(
  plan: ReportPlan,
  request: ReportRequest,
  reading: SampleReader,
  reporter: Reporter,
  io: ToolIo,
): Promise<number> {
  const { settings } = plan
  restrict(plan)
  try {
    const moments = sampleTimes(plan.context, () => reading.next(io), plan.schedule, settings, io)
    for (;;) {
      const answer = moments.next()
      const time = answer instanceof Promise ? await answer : answer
      if (time === undefined) break
      const isNews = (reading.changes & NAMES) !== 0
      if (isNews && settings.names_change === 'abort') {
        // PCP's reports print nothing here, which scripts expect.
        if (io.stderr.isTerminal) io.stderr.write('Aborting because of changed metric names.\n')
        return 1
      }
      const printing = reporter.sample({ time, values: reading.read(time) })
      if (printing instanceof Promise) await printing
      if (io.signal.aborted) break
      if (isNews && (await hasNewNames(plan, request, io))) reading.begin()
    }
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    if (error.code === 'PM_ERR_LOGREC') throw fetchError(error, io)
    if (error.code !== 'ECANCELED') throw error
  } finally {
    if (isCtrlC(io.signal)) io.stdout.write('\n') // ends the line in which terminals show ^C
    await reporter.end()
  }
  return 0
}

/** Flags of a result that mean the available metrics may have changed. */
const NAMES = PMCD_ADD_AGENT | PMCD_DROP_AGENT | PMCD_NAMES_CHANGE

/** Acts on changed names according to the settings; resolves to true if metrics were resolved again. */
async function hasNewNames(plan: ReportPlan, request: ReportRequest, io: ToolIo): Promise<boolean> {
  const { settings, context } = plan
  if (settings.names_change === 'ignore') return false
  const lenient = { ...settings, ignore_unknown: true }
  plan.metrics = await findMetrics(
    context,
    withPredicates(request),
    { settings: lenient, broken: new Set() },
    io,
  )
  plan.learn()
  return true
}

/** Reads samples. Readers of metrics that remain keep their state. */
class SampleReader {
  readonly #plan: ReportPlan
  readonly #wraps: boolean
  readonly #known = new Map<Pmid, MetricReader>()
  #readers: readonly MetricReader[] = []
  #rows: ColumnCursor | undefined
  #narrowing!: SampleFilter
  /** Selected instances of each metric; undefined for all. */
  #wanted: readonly (SelectedInstances | undefined)[] = []
  #cells: ValueColumns[] = []
  #before: Timestamp | undefined

  constructor(plan: ReportPlan, io: ToolIo) {
    this.#plan = plan
    this.#wraps = io.env['PCP_COUNTER_WRAP'] !== undefined
    this.begin()
  }

  /** Starts with the current metrics of the plan. */
  begin(): void {
    const { metrics, settings, nameOf } = this.#plan
    this.#rows = undefined
    this.#readers = metrics.map((metric) => {
      const reader = this.#known.get(metric.desc.pmid) ?? new MetricReader(metric, this.#wraps)
      this.#known.set(metric.desc.pmid, reader)
      return reader
    })
    this.#narrowing = new SampleFilter(metrics, settings, nameOf)
    this.#wanted = metrics.map(({ insts, hasInstances }) =>
      hasInstances && !settings.live_filter ? new SelectedInstances(insts) : undefined,
    )
    this.#cells = []
  }

  /** State change flags of the last result. */
  get changes(): number {
    return this.#rows?.changes ?? 0
  }

  /** Advances to the next values. */
  next(io: ToolIo): Timestamp | Promise<Timestamp> {
    const { context, metrics } = this.#plan
    this.#rows ??= valueRows(
      context,
      metrics.map(({ desc }) => desc),
    )
    return this.#rows.next(io)
  }

  /** Returns the filtered values of the current sample. */
  read(time: Timestamp): readonly ValueColumns[] {
    const elapsed = this.#before === undefined ? 0 : secondsBetween(this.#before, time)
    this.#before = time
    const { columns } = this.#rows!
    for (let i = 0; i < columns.length; i++) {
      const cells = this.#readers[i]!.read(columns[i]!, elapsed)
      this.#cells[i] = this.#wanted[i]?.among(cells) ?? cells
    }
    return this.#narrowing.narrow(this.#cells)
  }
}

/** Keeps the instances that were selected at the start. */
class SelectedInstances {
  readonly #insts: ReadonlySet<number>
  /** Instances known to be all selected, to avoid checking them again. */
  #known: Int32Array | undefined

  constructor(insts: readonly number[]) {
    this.#insts = new Set(insts)
  }

  /** Returns only the selected instances. */
  among(cells: ValueColumns): ValueColumns {
    const { insts, size } = cells
    if (size === 0 || insts === this.#known) return cells
    const left = keepPlaces(cells, (place) => this.#insts.has(insts[place]!))
    if (left === cells) this.#known = insts
    return left
  }
}

/** Restricts the profile to selected instances, unless a derived metric may need others. */
function restrict({ context, metrics, settings }: ReportPlan): void {
  if (settings.live_filter || metrics.some(({ desc }) => domainOf(desc.pmid) === DOMAIN_RESERVED)) return
  const wanted = new Map<Indom, readonly number[] | undefined>()
  for (const { desc, insts, filter, hasInstances } of metrics) {
    if (!hasInstances) continue
    const before = wanted.has(desc.indom) ? wanted.get(desc.indom) : []
    wanted.set(desc.indom, filter.isEmpty ? undefined : before && [...before, ...insts])
  }
  let profile = context.profile
  for (const [indom, insts] of wanted)
    if (insts !== undefined) profile = include(exclude(profile, indom), indom, [...new Set(insts)])
  context.profile = profile
}
