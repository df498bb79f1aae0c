/** Resolves the metrics of a report: names, instances, units. pmrep(1) */
import type { MetricDesc } from '../../../model/desc.ts'
import { isError, PcpError } from '../../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../../model/ids.ts'
import type { Instances } from '../../../model/source.ts'
import { PM_TYPE_32, PM_TYPE_STRING } from '../../../model/types.ts'
import type { Context } from '../../../pmapi/context.ts'
import { similarMetrics } from '../similar-metrics.ts'
import { didYouMean } from '../similar-names.ts'
import type { ToolIo } from '../tool.ts'
import { InstanceFilter } from './instances.ts'
import type { Settings } from './settings.ts'
import { numbersOf, type ReportMetricSpec } from './spec.ts'
import { checkUnits, type ReportUnits, reportUnits } from './units.ts'

/** A metric of a report. */
export interface ReportMetric {
  readonly name: string
  readonly label: string
  readonly desc: MetricDesc
  readonly spec: ReportMetricSpec
  readonly units: ReportUnits
  readonly hasInstances: boolean
  readonly filter: InstanceFilter
  /** Selected instances: of an archive all, otherwise those at the start. A singular metric has one without a name. */
  readonly insts: readonly number[]
  readonly names: readonly string[]
  /** Column width and decimals; the reporter chooses a missing width. */
  readonly width: number | undefined
  readonly precision: number
  readonly limit: number
}

/** Rules for resolving metrics. */
export interface FindRules {
  readonly settings: Settings
  /** Derived metrics whose operands this source lacks. */
  readonly broken: ReadonlySet<string>
}

/** Resolves metric specifications. Throws PM_ERR_GENERIC with the lines to print if a report cannot be made. */
export async function findMetrics(
  context: Context,
  specs: readonly ReportMetricSpec[],
  rules: FindRules,
  io: ToolIo,
): Promise<readonly ReportMetric[]> {
  const { settings } = rules
  const found = await expandNames(context, specs, rules, io)
  if (found.size === 0) throw linesError('Not one known metric found.')
  const metrics: ReportMetric[] = []
  const seen = new Set<Pmid>()
  const checked: Checked[] = []
  for (const [name, spec] of found) {
    const metric = await check(context, name, spec, settings, io)
    if (metric === undefined || seen.has(metric.desc.pmid)) continue
    seen.add(metric.desc.pmid)
    checked.push(metric)
  }
  if (checked.length === 0 && !settings.ignore_unknown) throw nothingChosen(settings, io)
  // Check units only after all names, so unknown metrics are reported first.
  for (const one of checked) {
    const metric = withUnits(one, settings)
    if (metric !== undefined) metrics.push(metric)
  }
  if (metrics.length === 0)
    throw linesError(settings.ignore_unknown ? 'Not one known metric found.' : 'No compatible metrics found.')
  return metrics
}

/** Expands names to leaves. Each appears once, at its first place, with its own specification or the first one of an inner node. */
async function expandNames(
  context: Context,
  specs: readonly ReportMetricSpec[],
  { settings, broken }: FindRules,
  io: ToolIo,
): Promise<ReadonlyMap<string, ReportMetricSpec>> {
  const found = new Map<string, ReportMetricSpec>()
  const problems: string[] = []
  for (const spec of specs) {
    try {
      for (const name of await context.traverse(spec.name, io))
        if (name === spec.name || !found.has(name)) found.set(name, spec)
    } catch (error) {
      const known = PcpError.from(error)
      if (known.code === 'ECANCELED') throw error
      const meant = [...broken].filter((name) => name === spec.name || name.startsWith(`${spec.name}.`))
      const failure = meant.length > 0 ? new PcpError('PM_ERR_BADDERIVE') : known
      if (isIgnored(failure, settings)) continue
      const near = failure.code === 'PM_ERR_NAME' ? await similarMetrics(context, spec.name, io) : []
      problems.push(invalid(meant[0] ?? spec.name, failure) + didYouMean(near))
    }
  }
  if (problems.length > 0) throw linesError(problems.join('\n'))
  return found
}

/** A metric that exists and has the selected instances. */
type Checked = Pick<ReportMetric, 'name' | 'desc' | 'spec' | 'hasInstances' | 'filter' | 'insts' | 'names'>

/** Resolves a metric; undefined if it is to be left out. Throws PM_ERR_GENERIC with the line to print. */
async function check(
  context: Context,
  name: string,
  spec: ReportMetricSpec,
  settings: Settings,
  io: ToolIo,
): Promise<Checked | undefined> {
  try {
    const desc = await describe(context, name, io)
    const hasInstances = desc.indom !== PM_INDOM_NULL
    const all = hasInstances ? await instancesOf(context, desc, io) : SINGULAR
    if (desc.type < PM_TYPE_32 || desc.type > PM_TYPE_STRING) throw new PcpError('PM_ERR_TYPE')
    if (!hasInstances && settings.omit_flat) return undefined
    const filter = new InstanceFilter(spec.instances.length > 0 ? spec.instances : settings.instances)
    const chosen =
      hasInstances && !settings.live_filter && !filter.isEmpty ? filter.choose(all.names) : undefined
    if (chosen?.length === 0) return undefined
    const insts = chosen === undefined ? all.ids : chosen.map((i) => all.ids[i]!)
    const names = chosen === undefined ? all.names : chosen.map((i) => all.names[i]!)
    return { name, desc, spec, hasInstances, filter, insts, names }
  } catch (error) {
    const known = PcpError.from(error)
    if (known.code === 'PM_ERR_GENERIC' || known.code === 'ECANCELED') throw error
    if (isIgnored(known, settings)) return undefined
    throw linesError(invalid(name, known))
  }
}

/** Chooses units; returns undefined for incompatible units if those are ignored. Throws PM_ERR_CONV, PM_ERR_GENERIC. */
function withUnits(checked: Checked, settings: Settings): ReportMetric | undefined {
  const { name, spec } = checked
  try {
    checkUnits(checked.desc, spec, settings)
    const own = numbersOf(spec, name)
    const units = scaled(checked.desc, spec, settings)
    const precision = settings.precision_force ?? own.precision ?? settings.precision
    const limit = settings.limit_filter_force || (own.limit ?? settings.limit_filter)
    const width = settings.width_force ?? own.width ?? (settings.width || undefined)
    return { ...checked, units, label: spec.label ?? defaultLabel(name), precision, limit, width }
  } catch (error) {
    if (PcpError.from(error).code !== 'PM_ERR_GENERIC' && settings.ignore_incompat) return undefined
    throw error
  }
}

const SINGULAR: Pick<Instances, 'ids' | 'names'> = { ids: [-1], names: [''] }

function isIgnored({ code }: PcpError, settings: Settings): boolean {
  if (code === 'PM_ERR_NAME') return settings.ignore_unknown
  return settings.ignore_incompat
}

async function describe(context: Context, name: string, io: ToolIo): Promise<MetricDesc> {
  const [id] = await context.lookupNames([name], io)
  if (id === undefined || isError(id)) throw known(id)
  const [desc] = await context.descs([id], io)
  if (desc === undefined || isError(desc)) throw known(desc)
  return desc
}

function known(error: { readonly status: number } | undefined): PcpError {
  return error === undefined ? new PcpError('PM_ERR_NAME') : PcpError.fromStatus(error.status)
}

/** In an archive, all instances that ever existed. */
async function instancesOf(context: Context, { indom }: MetricDesc, io: ToolIo): Promise<Instances> {
  return context.archive === undefined ? context.instances(indom, io) : context.archive.instances(indom)
}

/** Invalid units are an error of the whole report, with the library's message. */
function scaled(desc: MetricDesc, spec: ReportMetricSpec, settings: Settings): ReportUnits {
  try {
    return reportUnits(desc, spec, settings)
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code === 'PM_ERR_TYPE' || code === 'PM_ERR_GENERIC') throw error
    throw new PcpError('PM_ERR_CONV', undefined, { cause: error })
  }
}

/** Abbreviates a name: all parts but the last to their first letters, as in `k.a.load`. */
export function defaultLabel(name: string): string {
  const parts = name.split('.')
  return parts.map((part, i) => (i < parts.length - 1 ? part.slice(0, 1) : part)).join('.')
}

function invalid(name: string, { code, text }: PcpError): string {
  return `Invalid metric ${name} (${code} ${text}).`
}

function nothingChosen(settings: Settings, { stdout }: ToolIo): PcpError {
  // On standard output and as a Python list, as PCP prints it.
  const requested = settings.instances.map((item) => `'${item}'`).join(', ')
  if (requested !== '') stdout.write(`\nRequested global instances:\n[${requested}]\n`)
  return linesError('No matching instances found.')
}

/** Returns an error whose lines are printed unchanged. */
export function linesError(lines: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', lines)
}
