/** Running a report: source, metrics, samples; who prints them is handed in. pmrep(1), pcp2json(1) */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { oneLine } from '../../../base/printable.ts'
import { secondsBetween, type Timestamp } from '../../../base/timestamp.ts'
import { isFault, parseExpr } from '../../../derive/parse.ts'
import { PcpError } from '../../../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, type Indom, type Pmid } from '../../../model/ids.ts'
import { exclude, include } from '../../../model/profile.ts'
import { PMCD_ADD_AGENT, PMCD_DROP_AGENT, PMCD_NAMES_CHANGE, type ValueSet } from '../../../model/values.ts'
import { announce } from '../../../pmapi/announce.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { Zone } from '../../../time/zone.ts'
import { fetchError } from '../fetch-error.ts'
import { isCtrlC } from '../interrupt.ts'
import { boundsOf, openContext } from '../source.ts'
import type { Output, ToolIo } from '../tool.ts'
import { type SamplingWindow, samplingWindow } from '../window.ts'
import { reportingZone } from '../zone.ts'
import { goOnInBackground, isInBackground, tellHeadingsAreOut } from './background.ts'
import { findMetrics, type ReportMetric, sayLines } from './metrics.ts'
import { Narrowing, predicatesOf } from './narrow.ts'
import { fetches, placeIn, type Schedule, scheduleOf } from './schedule.ts'
import { checkValues, type Settings } from './settings.ts'
import type { Derived, ReportRequest } from './setup.ts'
import { MetricReader, type Readings } from './values.ts'

/** Everything that is known before the first sample. */
export interface ReportPlan {
  readonly settings: Settings
  readonly context: Context
  readonly schedule: Schedule
  readonly zone: Zone
  /** As the user named it; undefined for live values. */
  readonly archiveName: string | undefined
  readonly host: string
  metrics: readonly ReportMetric[]
  /** Name of an instance; '' for none. */
  readonly nameOf: (metric: ReportMetric, inst: number) => string
  /** Remembers the names of the metrics' instances. */
  readonly learn: () => void
}

/** One sample: readings in step with the metrics of the plan. */
export interface Sample {
  readonly time: Timestamp
  readonly readings: readonly Readings[]
}

/** Who prints. */
export interface Reporter {
  /** Headings that come before any sample. */
  begin(): void | Promise<void>
  sample(sample: Sample): void | Promise<void>
  /** Takes all samples by itself, in place of `sample`. */
  takeAll?(): Promise<void>
  /** Behind the last sample, also when the user interrupts. */
  end(): void | Promise<void>
}

/**
 * Opens the source, looks everything up, hands samples to the reporter. Returns the exit status. Throws PcpError: PM_ERR_GENERIC
 * with lines to print as they are, others as commands print them. `out`: what people read, if this is for people.
 */
export async function runReport(
  request: ReportRequest,
  makeReporter: (plan: ReportPlan) => Reporter | Promise<Reporter>,
  io: ToolIo,
  out?: Pick<Output, 'isTerminal'>,
): Promise<number> {
  const isDaemon = request.settings.daemonize
  if (isDaemon && !isInBackground(io.env)) return goOnInBackground()
  const context = await open(request, io)
  if (out?.isTerminal) context.formNames(oneLine)
  try {
    await announce(context, [io.progname, ...io.args], io)
    const plan = await makePlan(context, request, io)
    const reading = new Reading(plan, io)
    const reporter = await makeReporter(plan)
    await reporter.begin()
    if (isDaemon) {
      await io.stdout.flush()
      tellHeadingsAreOut()
    }
    return request.isCheck ? 0 : await take(plan, request, reading, reporter, io)
  } finally {
    await context.close()
  }
}

async function open({ derived, standard }: ReportRequest, io: ToolIo): Promise<Context> {
  const files = derived.flatMap((each) => ('file' in each ? [each.file] : []))
  for (const file of files)
    if (!existsSync(resolve(io.cwd, file)))
      throw sayLines(
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
  // Labels are those of the moment at which the report begins.
  if (context.archive !== undefined) placeIn(context.archive, schedule, settings)
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

/** The window that is asked for. PM_ERR_GENERIC with the lines to print. */
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
    throw code === 'PM_ERR_GENERIC' ? sayLines(`${io.progname}: ${message}`) : error
  }
}

/** Predicates need not be reported otherwise. */
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

/** Defines derived metrics; returns those that have no meaning here, as the source lacks what they are made of. */
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
        throw sayLines(`Failed to register derived metric:\n${message.trimEnd()}`)
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

/** Hands samples to the reporter until the schedule ends, or the user; returns the exit status. */
async function take(
  plan: ReportPlan,
  request: ReportRequest,
  reading: Reading,
  reporter: Reporter,
  io: ToolIo,
): Promise<number> {
  const { context, schedule, settings } = plan
  restrict(plan)
  let before: Timestamp | undefined
  try {
    if (reporter.takeAll !== undefined) {
      await reporter.takeAll()
      return 0
    }
    for await (const { timestamp, sets, changes } of fetches(
      context,
      () => reading.ids,
      schedule,
      settings,
      io,
    )) {
      const elapsed = before === undefined ? 0 : secondsBetween(before, timestamp)
      before = timestamp
      const isNews = (changes & NAMES) !== 0
      if (isNews && settings.names_change === 'abort') {
        // Scripts know PCP's to end without a word.
        if (io.stderr.isTerminal) io.stderr.write('Aborting because of changed metric names.\n')
        return 1
      }
      await reporter.sample({ time: timestamp, readings: reading.read(sets, elapsed) })
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

/** Bits of a result that say that metrics may have come or gone. */
const NAMES = PMCD_ADD_AGENT | PMCD_DROP_AGENT | PMCD_NAMES_CHANGE

/** Acts on changed names as the settings say; true when there are other metrics now. */
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

/** Reads fetch after fetch. Readers of metrics that stay go on where they were. */
class Reading {
  readonly #plan: ReportPlan
  readonly #wraps: boolean
  readonly #readers = new Map<Pmid, MetricReader>()
  #narrowing!: Narrowing
  #known: readonly (ReadonlySet<number> | undefined)[] = []
  ids: readonly Pmid[] = []

  constructor(plan: ReportPlan, io: ToolIo) {
    this.#plan = plan
    this.#wraps = io.env['PCP_COUNTER_WRAP'] !== undefined
    this.begin()
  }

  /** Takes the plan's metrics as they are now. */
  begin(): void {
    const { metrics, settings, nameOf } = this.#plan
    this.ids = metrics.map(({ desc }) => desc.pmid)
    for (const metric of metrics)
      if (!this.#readers.has(metric.desc.pmid))
        this.#readers.set(metric.desc.pmid, new MetricReader(metric, this.#wraps))
    this.#narrowing = new Narrowing(metrics, settings, nameOf)
    this.#known = metrics.map(({ insts, hasInstances }) =>
      hasInstances && !settings.live_filter ? new Set(insts) : undefined,
    )
  }

  /** What is left of the sets of one fetch. */
  read(sets: readonly ValueSet[], elapsedSec: number): readonly Readings[] {
    const all = sets.map((set, i) => {
      const readings = this.#readers.get(this.ids[i]!)!.read(set, elapsedSec)
      const known = this.#known[i]
      return known === undefined ? readings : among(readings, known)
    })
    return this.#narrowing.narrow(all)
  }
}

/** Without the instances that were not there at the start, or not wanted. */
function among(readings: Readings, known: ReadonlySet<number>): Readings {
  const { insts, cells } = readings
  let strangers = 0
  for (let i = 0; i < cells.length; i++) if (!known.has(insts[i]!)) strangers++
  if (strangers === 0) return readings
  const kept = [...cells.keys()].filter((i) => known.has(insts[i]!))
  return { insts: kept.map((i) => insts[i]!), cells: kept.map((i) => cells[i]) }
}

/** Fetches no instances that are not wanted, unless a derived metric may need them. */
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
