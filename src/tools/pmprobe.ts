/**
 * pmprobe: which metrics have how many values, in a form for scripts. pmprobe(1)
 *
 * Derived metrics are refused. Unlike 6.0.3, -d shows the version, as its usage text says.
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
import { nearHint } from './lib/near-metrics.ts'
import { endEarly, type OptionTable, type ParsedOptions } from './lib/options.ts'
import { printOptions } from './lib/print.ts'
import { settle } from './lib/settle.ts'
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
    { short: 'f', long: 'force', help: 'with -i or -I: list the whole instance domain, fetch nothing' },
    { short: 'F', long: 'faster', help: 'take every name for a metric, and look for none below it' },
    { short: 'I', long: 'external', help: 'list the names of instances' },
    { short: 'i', long: 'internal', help: 'list the numbers of instances' },
    { short: 'V', long: 'verbose', help: 'at the end, count the PDUs sent and received' },
    { short: 'v', long: 'values', help: 'list values' },
  ],
}

const DEFAULT_BATCH = 128

interface Wanted {
  readonly batch: number
  /** -f: the instance domain as it is, not the instances that have values. */
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
  readonly wanted: Wanted
  readonly io: ToolIo
  readonly print: PrintOptions
  /** The instance domain listed last: metrics next to each other mostly share theirs. */
  listed?: { readonly indom: Indom; readonly instances: Promise<Outcome<Instances>> }
}

/** Probes metrics. Status 0 even where metrics fail: their lines say so. */
export const tool: Tool = {
  name: 'pmprobe',
  summary: 'Probe metrics for values, tersely',
  description: `
Shows for each metric how many values it has now, in a form for scripts: the name and the number, or the name, a negative error
code and its text. Options add instances or values behind it. A name with others below it stands for all of them.`,
  examples: [['pmprobe -I disk.dev.read', 'Which disks are there?']],
  seeAlso: ['pminfo', 'pmerr'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const wanted = wantedFrom(parsed)
    const status = endEarly(OPTIONS, parsed, io)
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
      // In an archive each metric's first values are looked for, wherever they are.
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

function wantedFrom({ given, problems }: ParsedOptions): Wanted {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  let batch = DEFAULT_BATCH
  let [ids, names, values] = [false, false, false]
  // Who comes second is told, as often as it comes.
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

/** The metrics that the operands stand for; an operand that cannot be resolved is reported at once. */
async function expand(
  { context, wanted, io }: Report,
  operands: readonly string[],
): Promise<readonly string[]> {
  if (operands.length === 0) return context.traverse('', io)
  if (wanted.leavesOnly) return operands
  const names: string[] = []
  const found = await askForEach(operands, (operand) => settle(context.traverse(operand, io)))
  for (const [i, below] of found.entries()) {
    if (isError(below)) {
      const hint = await nearHint(operands[i]!, below, context, io)
      io.stdout.write(errorLine(operands[i]!, below, hint))
    } else names.push(...below)
  }
  return names
}

/** Questions that are under way together: enough to keep a collector busy, few enough that none waits for long. */
const AT_ONCE = 64

/** Asks about each of these; the answers have their order. */
async function askForEach<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE)
    answers.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(ask))))
  return answers
}

function errorLine(name: string, { status, text }: PcpError, where = ''): string {
  return `${name} ${status} ${text}${where}\n`
}

/** PMIDs of names, asked for a batch at a time; a name that fails alone is reported at once. */
async function lookup({ context, wanted, io }: Report, names: readonly string[]): Promise<readonly Metric[]> {
  const metrics: Metric[] = []
  const parts: (readonly string[])[] = []
  for (let at = 0; at < names.length; at += parts.at(-1)!.length) {
    // As in PCP, a name that would be left over joins the batch before it: -V shows how many questions there were.
    const isLast = names.length - at <= wanted.batch + 1
    parts.push(isLast ? names.slice(at) : names.slice(at, at + wanted.batch))
  }
  const answers = await askForEach(parts, (part) => settle(context.lookupNames(part, io)))
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

/** An unknown name among others is asked about all the same: what comes back says what is wrong. */
function idOf(found: Outcome<Pmid>): Pmid {
  return isError(found) ? PM_ID_NULL : found
}

/** Reports on some metrics. */
async function probe(report: Report, metrics: readonly Metric[]): Promise<void> {
  const { context, wanted, io } = report
  const listsInstances = wanted.ids || wanted.names
  const ids = metrics.map(({ id }) => id)
  const descs = listsInstances || wanted.values ? await descsOf(report, ids) : undefined
  const fetches = !(wanted.wholeIndom && listsInstances)
  const result = fetches ? await settle(context.fetch(ids, io)) : undefined
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

/** One question for all is faster; PCP 6 asks one by one, so where questions are counted they are its own. */
async function descsOf(
  { context, wanted, io }: Report,
  ids: readonly Pmid[],
): Promise<readonly Outcome<MetricDesc>[]> {
  if (!wanted.pduCounts) return context.descs(ids, io)
  return (await Promise.all(ids.map((id) => context.descs([id], io)))).flat()
}

/** Number of values, or the error in their place. */
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
    report.listed = { indom, instances: settle(listInstances(report, indom)) }
  return report.listed.instances
}

/** The domain of an archive is all that ever was in it, by its newest names. */
async function listInstances({ context, io }: Report, indom: Indom): Promise<Instances> {
  const { archive } = context
  return archive === undefined ? context.instances(indom, io) : archive.instances(indom)
}

function singular({ ids, names }: Wanted): string {
  return `${ids ? ' PM_IN_NULL' : ''}${names ? ' PM_IN_NULL' : ''}`
}

function instance({ ids, names }: Wanted, id: number, known: ReadonlyMap<number, string>): string {
  const name = known.get(id)
  const text = name === undefined ? ` ?${id}` : ` "${name}"`
  return `${ids ? ` ?${id}` : ''}${names ? text : ''}`
}

/** Types of PDUs that PCP 6 counts, from the first on. */
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
