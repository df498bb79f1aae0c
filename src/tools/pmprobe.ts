/**
 * pmprobe: counts the values of metrics, in a format for scripts. pmprobe(1)
 *
 * Derived metrics are not supported. Unlike in 6.0.3, -d prints the version, as the usage text documents.
 */
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, PM_ID_NULL, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { type PrintOptions, printValue } from '../model/print.ts'
import type { Instances } from '../model/source.ts'
import type { ValueSet } from '../model/values.ts'
import { pduCount, pduTotal } from '../net/counters.ts'
import type { Context } from '../pmapi/context.ts'
import { PDU_ERROR } from '../wire/pdu.ts'
import { handleEarlyExit, type OptionTable, type ParsedOptions } from './lib/options.ts'
import { printOptions } from './lib/print.ts'
import { toOutcome } from './lib/settle.ts'
import { didYouMeanMetric } from './lib/similar-metrics.ts'
import { boundsOf, openReport } from './lib/source.ts'
import { parseStandard, STANDARD } from './lib/standard.ts'
import type { Tool, ToolIo } from './lib/tool.ts'
import { samplingWindow } from './lib/window.ts'
import { reportingZone } from './lib/zone.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [metricname ...]',
  rows: [
    { heading: 'General options' },
    STANDARD.archive,
    STANDARD.host,
    STANDARD.container,
    STANDARD.derived,
    STANDARD.localPmda,
    STANDARD.specLocal,
    STANDARD.namespace,
    STANDARD.origin,
    STANDARD.timezone,
    STANDARD.hostzone,
    STANDARD.debug,
    { short: 'd', long: 'version', help: 'print the version and exit' },
    STANDARD.help,
    { heading: 'Protocol options' },
    { short: 'b', long: 'batch', arg: 'N', help: 'fetch at most N metrics at a time [128]' },
    { heading: 'Reporting options' },
    { short: 'f', long: 'force', help: 'with -i or -I: list the whole instance domain without a fetch' },
    { short: 'F', long: 'faster', help: 'treat every name as a metric, without looking for names below it' },
    { short: 'I', long: 'external', help: 'list the names of instances' },
    { short: 'i', long: 'internal', help: 'list the numbers of instances' },
    { short: 'V', long: 'verbose', help: 'at the end, count the PDUs sent and received' },
    { short: 'v', long: 'values', help: 'list values' },
  ],
}

const DEFAULT_BATCH = 128

interface PmprobeOptions {
  readonly batch: number
  /** -f: list the whole instance domain, not only instances with values. */
  readonly wholeIndom: boolean
  /** -F */
  readonly leavesOnly: boolean
  readonly ids: boolean
  readonly names: boolean
  readonly values: boolean
  readonly pduCounts: boolean
}

interface Metric {
  readonly name: string
  readonly id: Pmid
}

interface Report {
  readonly context: Context
  readonly wanted: PmprobeOptions
  readonly io: ToolIo
  readonly print: PrintOptions
  /** The last listed instance domain, as consecutive metrics often share one. */
  listed?: { readonly indom: Indom; readonly instances: Promise<Outcome<Instances>> }
}

/** Probes metrics. Status 0 even if metrics fail; their lines have the error. */
export const tool: Tool = {
  name: 'pmprobe',
  summary: 'Count the values of metrics, for scripts',
  description: `
Shows the current number of values of each metric, in a format for scripts: the name and the number, or the name, a negative error
code and its text. Options add instances or values. A name with others below it selects all of them.`,
  examples: [['pmprobe -I disk.dev.read', 'Names of the disks:']],
  seeAlso: ['pminfo', 'pmerr'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const wanted = wantedFrom(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const context = await openReport(parsed.standard, io)
    try {
      const { zone, note } = await reportingZone(parsed.standard, context, io)
      const { archive } = context
      if (archive !== undefined) io.stdout.write(note)
      const bounds = boundsOf(context, parsed.standard, io)
      const origin = bounds && samplingWindow(parsed.standard, bounds, zone, io).origin
      archive?.setMode('forward', origin)
      const report: Report = { context, wanted, io, print: printOptions(zone, io) }
      const metrics = await lookup(report, await expand(report, parsed.operands))
      // In an archive, find the first values of each metric separately.
      const batch = archive === undefined ? wanted.batch : 1
      for (let i = 0; i < metrics.length; i += batch) {
        archive?.setMode('forward', origin)
        await probe(report, metrics.slice(i, i + batch))
      }
      if (wanted.pduCounts) writePduCounts(report)
    } finally {
      await context.close()
    }
    return 0
  },
}

function wantedFrom({ given, problems }: ParsedOptions): PmprobeOptions {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  let batch = DEFAULT_BATCH
  let [ids, names, values] = [false, false, false]
  // The later of two conflicting options is reported each time.
  for (const { name, value } of given) {
    if (name === 'b') {
      if (/^\s*[-+]?\d+$/.test(value)) batch = Math.max(1, Number(value))
      else problems.push('-b requires numeric argument')
    } else if (name === 'v') {
      if (ids || names) problems.push('at most one of -v and (-i or -I) allowed')
      values = true
    } else if (name === 'i' || name === 'I') {
      if (values) problems.push(`at most one of -${name} and -v allowed`)
      if (name === 'i') ids = true
      else names = true
    }
  }
  return { batch, wholeIndom: has('f'), leavesOnly: has('F'), ids, names, values, pduCounts: has('V') }
}

/** Expands operands to metrics; reports unknown ones immediately. */
async function expand(
  { context, wanted, io }: Report,
  operands: readonly string[],
): Promise<readonly string[]> {
  if (operands.length === 0) return context.traverse('', io)
  if (wanted.leavesOnly) return operands
  const names: string[] = []
  const found = await mapConcurrently(operands, (operand) => toOutcome(context.traverse(operand, io)))
  for (const [i, below] of found.entries()) {
    if (isError(below)) {
      const hint = await didYouMeanMetric(operands[i]!, below, context, io)
      io.stdout.write(errorLine(operands[i]!, below, hint))
    } else names.push(...below)
  }
  return names
}

/** Maximum requests in flight: enough to keep a collector busy without long waits for each. */
const MAX_IN_FLIGHT = 64

/** Runs requests concurrently; results are in the order of the items. */
async function mapConcurrently<T, R>(
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const answers: R[] = []
  for (let at = 0; at < items.length; at += MAX_IN_FLIGHT)
    answers.push(...(await Promise.all(items.slice(at, at + MAX_IN_FLIGHT).map(ask))))
  return answers
}

function errorLine(name: string, { status, text }: PcpError, where = ''): string {
  return `${name} ${status} ${text}${where}\n`
}

/** Looks names up in batches; an error of a whole batch is reported immediately. */
async function lookup({ context, wanted, io }: Report, names: readonly string[]): Promise<readonly Metric[]> {
  const metrics: Metric[] = []
  const parts: (readonly string[])[] = []
  for (let at = 0; at < names.length; at += parts.at(-1)!.length) {
    // As in PCP, a single remaining name joins the previous batch, as -V shows the number of requests.
    const isLast = names.length - at <= wanted.batch + 1
    parts.push(isLast ? names.slice(at) : names.slice(at, at + wanted.batch))
  }
  const answers = await mapConcurrently(parts, (part) => toOutcome(context.lookupNames(part, io)))
  for (const [at, part] of parts.entries()) {
    const found = answers[at]!
    const alone = part.length === 1 && !isError(found) ? found[0] : undefined
    const failed = isError(found) ? found : isError(alone) ? alone : undefined
    for (const [i, name] of part.entries()) {
      if (failed !== undefined) io.stdout.write(errorLine(name, failed))
      else if (!isError(found)) metrics.push({ name, id: idOf(found[i]!) })
    }
  }
  return metrics
}

/** Returns the null PMID for unknown names, whose replies then contain the error. */
function idOf(found: Outcome<Pmid>): Pmid {
  return isError(found) ? PM_ID_NULL : found
}

/** Reports on metrics. */
async function probe(report: Report, metrics: readonly Metric[]): Promise<void> {
  const { context, wanted, io } = report
  const listsInstances = wanted.ids || wanted.names
  const ids = metrics.map(({ id }) => id)
  const descs = listsInstances || wanted.values ? await descsOf(report, ids) : undefined
  const fetches = !(wanted.wholeIndom && listsInstances)
  const result = fetches ? await toOutcome(context.fetch(ids, io)) : undefined
  const lines = metrics.map(async ({ name }, i): Promise<string> => {
    const desc = descs?.[i]
    if (isError(result)) return errorLine(name, result, ' (pmFetch)')
    if (isError(desc)) return errorLine(name, desc, ' (pmLookupDesc)')
    const set = result?.sets[i]
    if (desc === undefined) return `${name} ${countOf(set!)}\n`
    return set === undefined ? wholeIndomLine(report, name, desc) : valuesLine(report, name, desc, set)
  })
  io.stdout.write((await Promise.all(lines)).join(''))
}

/** Fetches descriptors in one request, which is faster; with -V one by one as PCP 6 does, as requests are counted. */
async function descsOf(
  { context, wanted, io }: Report,
  ids: readonly Pmid[],
): Promise<readonly Outcome<MetricDesc>[]> {
  if (!wanted.pduCounts) return context.descs(ids, io)
  return (await Promise.all(ids.map((id) => context.descs([id], io)))).flat()
}

/** Formats the number of values, or the error. */
function countOf({ status }: ValueSet): string {
  return status < 0 ? `${status} ${PcpError.fromStatus(status).text}` : String(status)
}

async function wholeIndomLine(report: Report, name: string, desc: MetricDesc): Promise<string> {
  if (desc.indom === PM_INDOM_NULL) return `${name} 1${singular(report.wanted)}\n`
  const instances = await instancesOf(report, desc.indom)
  if (isError(instances)) return errorLine(name, instances, ' (pmGetInDom)')
  const names = new Map(instances.ids.map((id, i) => [id, instances.names[i]!]))
  return `${name} ${instances.ids.length}${instances.ids.map((id) => instance(report.wanted, id, names)).join('')}\n`
}

async function valuesLine(report: Report, name: string, desc: MetricDesc, set: ValueSet): Promise<string> {
  const { wanted, print } = report
  let line = `${name} ${countOf(set)}`
  if (set.status <= 0) return `${line}\n`
  if (wanted.values) {
    for (let i = 0; i < set.status; i++) line += ` ${printValue(set, i, desc.type, 1, print)}`
    return `${line}\n`
  }
  if (desc.indom === PM_INDOM_NULL) return `${line}${singular(wanted)}\n`
  const instances = await instancesOf(report, desc.indom)
  if (isError(instances)) return errorLine(name, instances, ' (pmGetInDom)')
  const names = new Map(instances.ids.map((id, i) => [id, instances.names[i]!]))
  for (const inst of set.inst) line += instance(wanted, inst, names)
  return `${line}\n`
}

function instancesOf(report: Report, indom: Indom): Promise<Outcome<Instances>> {
  if (report.listed?.indom !== indom)
    report.listed = { indom, instances: toOutcome(listInstances(report, indom)) }
  return report.listed.instances
}

/** Lists all instances ever recorded in an archive by their newest names, or the current ones of a collector. */
async function listInstances({ context, io }: Report, indom: Indom): Promise<Instances> {
  const { archive } = context
  return archive === undefined ? context.instances(indom, io) : archive.instances(indom)
}

function singular({ ids, names }: PmprobeOptions): string {
  return `${ids ? ' PM_IN_NULL' : ''}${names ? ' PM_IN_NULL' : ''}`
}

function instance({ ids, names }: PmprobeOptions, id: number, known: ReadonlyMap<number, string>): string {
  const name = known.get(id)
  const text = name === undefined ? ` ?${id}` : ` "${name}"`
  return `${ids ? ` ?${id}` : ''}${names ? text : ''}`
}

/** Number of PDU types that PCP 6 counts. */
const COUNTED_TYPES = 23

function writePduCounts({ context, io }: Report): void {
  const { counters } = context
  if (counters === undefined) return
  const line = (title: string, counts: Float64Array): string => {
    const columns = Array.from({ length: COUNTED_TYPES }, (_, i) => pduCount(counts, PDU_ERROR + i))
    return `${title}${columns.map((count) => ` ${String(count).padStart(3)}`).join('')}\nTotal: ${pduTotal(counts)}\n`
  }
  io.stdout.write(line('PDUs send', counters.sent) + line('PDUs recv', counters.received))
}
