/** Reports on metrics and instance domains. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, type Outcome, PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_ID_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import { semWords, typeWords } from '../../model/print.ts'
import { instanceText, metricText as metricIdentity, sourceText } from '../../model/series.ts'
import { PM_TYPE_NOSUPPORT } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import type { ValueSet } from '../../model/values.ts'
import { singleLine } from '../lib/print.ts'
import { toOutcome } from '../lib/settle.ts'
import type { LabelLines } from './labels.ts'
import { needsDescs, needsSource, type PminfoOptions, type Report } from './options.ts'
import { fetchValues, valueLines } from './values.ts'

/** A metric with its PMID, and its descriptor if requested. */
interface Metric {
  readonly name: string
  readonly pmid: Pmid
  readonly desc: MetricDesc | undefined
  readonly set: ValueSet | undefined
}

/** Reports on a batch of metrics, with common requests where possible. */
export async function reportMetrics(report: Report, names: readonly string[]): Promise<void> {
  const { context, wanted, io } = report
  const form = singleLine(io.stdout)
  if (!needsSource(wanted) && !wanted.pmid) {
    for (const name of names) io.stdout.write(`${form(name)}\n`)
    return
  }
  const found = await context.lookupNames(names, io)
  const [first] = found
  if (names.length === 1 && isError(first)) {
    io.stdout.write(`${form(names[0]!)}: pmLookupName: ${first.text}\n`)
    return
  }
  // Fetch unknown names of a batch too; the replies contain their errors.
  const ids = found.map((id) => (isError(id) ? PM_ID_NULL : id))
  const descs = needsDescs(wanted) ? await toOutcome(context.descs(ids, io)) : []
  if (isError(descs)) {
    for (const name of names) io.stdout.write(`${form(name)}: pmLookupDesc: ${descs.text}\n`)
    return
  }
  const known = descs.filter((desc): desc is MetricDesc => !isError(desc))
  context.archive?.setMode('forward', report.origin)
  const sets = await valuesFor(report, known)
  if (isError(sets)) {
    for (const name of names) io.stdout.write(`${form(name)}: pmFetch: ${sets.text}\n`)
    return
  }
  let next = 0
  // Send all requests before awaiting the first reply.
  const texts = names.map((name, i): Promise<string> => {
    const pmid = ids[i]!
    const desc = descs[i]
    if (isError(desc)) return Promise.resolve(`${form(name)}: pmLookupDesc: ${desc.text}\n`)
    const set = desc === undefined ? undefined : sets[next++]
    const metric = { name, pmid, desc, set }
    return wanted.verify ? Promise.resolve(verifyLine(metric, wanted)) : metricText(report, metric)
  })
  io.stdout.write((await Promise.all(texts)).join(''))
}

/** Fetches values if they are needed; otherwise []. */
async function valuesFor(
  report: Report,
  descs: readonly MetricDesc[],
): Promise<Outcome<readonly ValueSet[]>> {
  const { values, verify, labels, series } = report.wanted
  if (values || verify) return toOutcome(fetchValues(report, descs))
  // Labels in an archive are those at the time of the values, even if values are not shown.
  if (!(labels || series) || report.context.archive === undefined) return []
  const sets = await toOutcome(fetchValues(report, descs))
  return isError(sets) ? sets : []
}

/** Returns the error of a metric in verify mode, or ''. */
function verifyLine({ name, desc, set }: Metric, { emptyIsFine }: PminfoOptions): string {
  if (desc?.type === PM_TYPE_NOSUPPORT) return `${name}: Not Supported\n`
  if (set === undefined || set.status > 0) return ''
  if (set.status < 0) return `${name}: ${PcpError.fromStatus(set.status).text}\n`
  return emptyIsFine ? '' : `${name}: No value(s) available\n`
}

async function metricText(report: Report, metric: Metric): Promise<string> {
  const { context, wanted, io } = report
  const { name, pmid, desc, set } = metric
  // First, as cached labels depend on the order of metrics.
  const hasLabels = (wanted.labels || wanted.series) && desc !== undefined
  const asked = hasLabels ? toOutcome(report.labels.of(pmid, desc.indom)) : undefined
  const [oneline, help, names] = await Promise.all([
    wanted.oneline ? toOutcome(context.text(pmid, { level: 'oneline', signal: io.signal })) : undefined,
    wanted.help ? toOutcome(context.text(pmid, { signal: io.signal })) : undefined,
    instanceNames(report, desc, set),
  ])
  const values = desc !== undefined && set !== undefined ? await valueLines(report, desc, set, names) : ''
  const sets = await asked
  const labels =
    desc === undefined || !wanted.labels ? undefined : await labelLines(report, desc.indom, sets, names)
  const series =
    desc === undefined || !wanted.series
      ? undefined
      : await seriesLines(report, name, desc, isError(sets) ? [] : (sets ?? []), names)
  let text = needsBlankLine(wanted) ? '\n' : ''
  const form = singleLine(io.stdout)
  text += form(name)
  if (wanted.pmid) text += ` PMID: ${pmidStr(pmid)}${wanted.fullPmid ? ` = ${decimalAndHex(pmid)}` : ''}`
  text += onelineText(oneline, wanted.fullPmid, form)
  text += '\n'
  if (desc !== undefined && wanted.desc) text += descLines(desc, wanted.fullIndom)
  if (desc !== undefined && wanted.descOneline) text += descLine(form(name), desc)
  text += series?.metric ?? ''
  text += labels?.metric ?? ''
  text += helpText(help)
  return text + values + (series?.instances ?? '') + (labels?.instances ?? '')
}

function needsBlankLine({ desc, help, values, labels }: PminfoOptions): boolean {
  return desc || help || values || labels
}

/** Lists the external names of a metric's instances in one request. */
async function instanceNames(
  report: Report,
  desc: MetricDesc | undefined,
  set: ValueSet | undefined,
): Promise<ReadonlyMap<number, string>> {
  const { context, wanted, io } = report
  if (desc === undefined || desc.indom === PM_INDOM_NULL) return new Map()
  if (!wanted.labels && (set === undefined || set.status <= 0)) return new Map()
  // As in the reference, changes of an archive's domain since the previous metric are ignored.
  if (report.listed?.indom === desc.indom) return report.listed.names
  const names = new Map<number, string>()
  if (context.archive !== undefined) report.listed = { indom: desc.indom, names }
  const found = await toOutcome(context.instances(desc.indom, io))
  if (!isError(found)) for (const [i, id] of found.ids.entries()) names.set(id, found.names[i]!)
  return names
}

async function labelLines(
  report: Report,
  indom: Indom,
  sets: Outcome<readonly LabelSet[]> | undefined,
  names: ReadonlyMap<number, string>,
): Promise<LabelLines | undefined> {
  if (sets === undefined) return undefined
  return isError(sets) ? { metric: '', instances: '' } : report.labels.metricLines(sets, indom, names)
}

/** Returns the one-line help after a name, on a new line if the name's line is already long. */
function onelineText(
  oneline: Outcome<string> | undefined,
  ownLine: boolean,
  form: (text: string) => string,
): string {
  if (oneline === undefined) return ''
  if (isError(oneline)) return ` One-line Help: Error: ${oneline.text}`
  return `${ownLine ? '\n    ' : ' '}[${form(oneline)}]`
}

function helpText(help: Outcome<string> | undefined): string {
  if (help === undefined) return ''
  if (isError(help)) return `Full Help: Error: ${help.text}\n`
  const text = help.replace(/\n+$/, '')
  return text === '' ? 'Help: <empty entry>\n' : `Help:\n${text}\n`
}

/** Reports on an instance domain. */
export async function reportIndom(report: Report, indom: Indom): Promise<void> {
  const { context, wanted, io } = report
  const [oneline, help, labels] = await Promise.all([
    wanted.oneline ? toOutcome(context.indomText(indom, { level: 'oneline', signal: io.signal })) : undefined,
    wanted.help ? toOutcome(context.indomText(indom, { signal: io.signal })) : undefined,
    wanted.labels ? report.labels.indomLine(indom) : '',
  ])
  io.stdout.write(
    `\nInDom: ${indomWords(indom, wanted.fullIndom)}${onelineText(oneline, wanted.fullIndom, singleLine(io.stdout))}\n` +
      labels +
      helpText(help),
  )
}

/** Series identifiers of a metric and its instances. */
interface SeriesLines {
  readonly metric: string
  readonly instances: string
}

/** Returns the series identifiers of a metric with label sets `sets`, and of its listed instances. */
async function seriesLines(
  { context, io }: Report,
  name: string,
  desc: MetricDesc,
  sets: readonly LabelSet[],
  names: ReadonlyMap<number, string>,
): Promise<SeriesLines> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')
  const [host, found] = await Promise.all([
    sets.length === 0 ? context.hostname(io) : '',
    desc.indom === PM_INDOM_NULL || names.size === 0
      ? []
      : toOutcome(context.instancesLabels(desc.indom, io)),
  ])
  const own = new Map((isError(found) ? [] : found).map((set) => [set.inst, set]))
  let instances = ''
  for (const [inst, instance] of names) {
    const set = own.get(inst)
    const id = sha1(instanceText(instance, set === undefined ? sets : [...sets, set]))
    instances += `    inst [${inst} or "${instance}"] series ${id}\n`
  }
  const metric = `    Source: ${sha1(sourceText(sets, host))}\n    Series: ${sha1(metricIdentity(name, desc, sets))}\n`
  return { metric, instances }
}

const typeText = (type: number): string => (type === PM_TYPE_NOSUPPORT ? 'Not Supported' : typeWords(type))
const unitsWords = (units: number): string => unitsStr(units) || 'none'
const hex = (id: number): string => `0x${id.toString(16)}`

/** Formats an identifier in decimal and hexadecimal: `121634818 = 0x7400002`. */
function decimalAndHex(id: number): string {
  return `${id} = ${hex(id)}`
}

/** Formats an instance domain: `29.2 0x7400002`, or `29.2 = 121634818 = 0x7400002` in full. */
function indomWords(indom: Indom, full: boolean): string {
  return full ? `${indomStr(indom)} = ${decimalAndHex(indom)}` : `${indomStr(indom)} ${hex(indom)}`
}

/** Formats a descriptor in the two lines of -d. */
function descLines({ type, indom, sem, units }: MetricDesc, fullIndom: boolean): string {
  return (
    `    Data Type: ${typeText(type)}  InDom: ${indomWords(indom, fullIndom)}\n` +
    `    Semantics: ${semWords(sem)}  Units: ${unitsWords(units)}\n`
  )
}

/** Formats a descriptor in one line, separated by tabs. */
function descLine(name: string, { type, indom, sem, units }: MetricDesc): string {
  return `${name}\t${typeText(type)}\t${indomWords(indom, false)}\t${semWords(sem)}\t${unitsWords(units)}\n`
}
