/**
 * pmval: the values of one metric over time. pmval(1)
 *
 * Archives, derived metrics and time control are refused, and so is an end of the time window
 * that is no interval.
 */
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { PM_TYPE_STRING, typeStr } from '../../model/types.ts'
import { makeSet } from '../../model/value-writer.ts'
import type { FetchResult } from '../../model/values.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { Context } from '../../pmapi/context.ts'
import { type MetricSpec, parseMetricSpec } from '../../pmapi/metric-spec.ts'
import { parseInterval } from '../../time/interval.ts'
import { endEarly, usageText } from '../lib/options.ts'
import { parseValue } from '../lib/parse-value.ts'
import { printOptions } from '../lib/print.ts'
import { openContext } from '../lib/source.ts'
import { type ParsedStandard, parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { reportingZone } from '../lib/zone.ts'
import { EventReport } from './events.ts'
import { columnWidth, precisionFits } from './format.ts'
import { Headings, headerLines, type Schedule } from './header.ts'
import { OPTIONS, type Wanted, wantedFrom } from './options.ts'
import { type RowStyle, rateRow, valueRow } from './rows.ts'
import { columnsOf, findSubject, type Subject } from './subject.ts'

/** Shows the values of a metric, a row a sample. */
export const tool: Tool = {
  name: 'pmval',
  summary: 'Show the values of a metric over time',
  description: `
Shows the values of one metric, a line a sample, with a column for each instance. Counters are shown as rates unless -r asks for
them as they are; times that are counted become utilisation.

The metric may say where it is and which instances are meant: host:metric[instance,...], archive/metric[instance,...].`,
  examples: [
    ['pmval -s 5 -t 2s kernel.all.load', 'Five samples, two seconds apart:'],
    ['pmval "db1:disk.dev.read[sda,sdb]"', 'Two disks of db1:'],
  ],
  seeAlso: ['pminfo', 'pmclient'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { isHighRes: true })
    const wanted = wantedFrom(parsed)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length === 0) parsed.problems.push('error - no metricname specified')
    else if (parsed.operands.length > 1) parsed.problems.push('error - too many arguments')
    if (parsed.problems.length > 0) return endEarly(OPTIONS, parsed, io) ?? 1
    let spec: MetricSpec
    try {
      spec = parseMetricSpec(parsed.operands[0]!)
    } catch (error) {
      io.stderr.write(`${PcpError.from(error).message}${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const standard = withSource(parsed, spec, wanted)
    if (standard === undefined) {
      parsed.problems.push('only one host or archive allowed')
      return endEarly(OPTIONS, parsed, io) ?? 1
    }
    const schedule = scheduleOf(standard)
    const context = await openContext(standard, io)
    try {
      await show(context, spec, wanted, standard, schedule, io)
      return 0
    } finally {
      await context.close()
    }
  },
}

/** The standard options with the source that the metric's specification names; undefined when two sources are meant. */
function withSource(
  { standard }: ParsedStandard,
  spec: MetricSpec,
  { rawArchive }: Wanted,
): StandardOptions | undefined {
  const archive = rawArchive ?? (spec.kind === 'archive' ? spec.source : undefined)
  if (archive !== undefined)
    return standard.source === 'host' ? undefined : { ...standard, source: 'archive', archives: [archive] }
  if (spec.kind === 'local') return { ...standard, source: 'local' }
  if (spec.source === undefined || standard.source !== undefined) return standard
  return { ...standard, source: 'host', hosts: [spec.source] }
}

const DEFAULT_INTERVAL_SEC = 1

/** When to sample, and how often. */
function scheduleOf({ interval, samples, window }: StandardOptions): Schedule {
  const intervalSec = interval === undefined ? DEFAULT_INTERVAL_SEC : toSeconds(interval)
  const intervalMs = intervalSec * 1000
  if (window.finish === undefined) return { samples, intervalMs }
  const windowSec = windowOf(window.finish)
  if (samples !== undefined) return { samples, intervalMs, windowMs: windowSec * 1000 }
  return { samples: windowSec < 0 ? 0 : Math.floor(windowSec / intervalSec) + 1, intervalMs }
}

/** Seconds from now to the end that -T gives. */
function windowOf(text: string): number {
  const finish = /^\s*([-+]?)(.*)$/s.exec(text)!
  try {
    return finish[1] === '-' ? -1 : toSeconds(parseInterval(finish[2]!))
  } catch (error) {
    throw new PcpError('PM_ERR_NYI', `-T ${text}: dates are not supported yet, give an interval`, {
      cause: error,
    })
  }
}

async function show(
  context: Context,
  spec: MetricSpec,
  wanted: Wanted,
  standard: StandardOptions,
  schedule: Schedule,
  io: ToolIo,
): Promise<void> {
  const { zone, note } = await reportingZone(standard, context, io)
  io.stdout.write(note)
  const instances = spec.instances.length > 0 ? spec.instances : wanted.instances
  const subject = await findSubject(context, spec.metric, instances, wanted.raw, io)
  if (subject.columns === undefined && spec.instances.length > 0)
    throw new PcpError('PM_ERR_INDOM', `${spec.metric}: singular metrics do not have instances`)
  if (wanted.filter !== undefined) await storeFilter(context, subject, wanted.filter, io)
  if (note === '' && !subject.isEvent) io.stdout.write('\n')
  const width = columnWidth(subject.desc.type, wanted.width)
  const { precision } = wanted
  if (precision !== undefined && !precisionFits(precision, width))
    throw new PcpError('PM_ERR_CONV', `-f ${precision} too large for column width ${width}`)
  const print = printOptions(zone, io)
  const headings = new Headings(subject.columns ?? [], width, subject.isRate && precision === undefined)
  io.stdout.write(headerLines(subject, await context.hostname(io), schedule))
  await io.stdout.flush()
  const style = { width, precision, print, counterWrap: io.env['PCP_COUNTER_WRAP'] !== undefined }
  const events = new EventReport(context, subject, io, print)
  const rows = new Rows(context, subject, headings, style, io)
  for await (const result of fetches(context, subject, schedule, io)) {
    if (subject.isEvent) io.stdout.write(await events.lines(result.sets[0]!, wanted.verbose))
    else await rows.add(result)
    await io.stdout.flush()
  }
}

/** Stores the value of -x: text into a metric with event records. */
async function storeFilter(
  context: Context,
  { desc, isEvent }: Subject,
  text: string,
  io: ToolIo,
): Promise<void> {
  const type = isEvent ? PM_TYPE_STRING : desc.type
  let set: ReturnType<typeof makeSet>
  try {
    set = makeSet(desc.pmid, type, [PM_IN_NULL], [parseValue(text, type)])
  } catch (error) {
    const { code } = PcpError.from(error)
    const why =
      code === 'ERANGE'
        ? `filter value "${text}" is out of range for metric data type (PM_TYPE_${typeStr(type)})`
        : `filter "${text}" incompatible with metric type (PM_TYPE_${typeStr(type)})`
    throw new PcpError(code, why, { cause: error })
  }
  try {
    await context.store([set], io)
  } catch (error) {
    const { code, text: why } = PcpError.from(error)
    throw new PcpError(code, `store value "${text}" failed: ${why}`, { cause: error })
  }
}

/** One fetch an interval; rates need one more than there are samples. */
async function* fetches(
  context: Context,
  { desc, isRate }: Subject,
  { samples = Number.POSITIVE_INFINITY, intervalMs, windowMs = Number.POSITIVE_INFINITY }: Schedule,
  io: ToolIo,
): AsyncGenerator<FetchResult> {
  const count = samples === 0 ? 0 : samples + (isRate ? 1 : 0)
  const start = SYSTEM_CLOCK.now()
  for (let n = 0; n < count && n * intervalMs < windowMs; n++) {
    const wait = start + n * intervalMs - SYSTEM_CLOCK.now()
    if (wait > 0) await SYSTEM_CLOCK.sleep(wait, io.signal)
    yield await context.fetch([desc.pmid], io)
  }
}

/** The rows and the headings above them. */
class Rows {
  readonly #context: Context
  readonly #subject: Subject
  readonly #headings: Headings
  readonly #style: RowStyle
  readonly #io: ToolIo
  #before: FetchResult | undefined
  #hasHeading = false

  constructor(context: Context, subject: Subject, headings: Headings, style: RowStyle, io: ToolIo) {
    this.#context = context
    this.#subject = subject
    this.#headings = headings
    this.#style = style
    this.#io = io
  }

  async add(result: FetchResult): Promise<void> {
    const { stdout, stderr, progname } = this.#io
    const subject = this.#subject
    const before = this.#before
    this.#before = result
    const set = result.sets[0]!
    if (set.status < 0) {
      await stdout.flush()
      stderr.write(`\n${progname}: pmFetch: ${PcpError.fromStatus(set.status).text}\n`)
      return
    }
    if (set.status > 0) await this.#head(set.inst)
    if (!subject.isRate) stdout.write(valueRow(subject, set, this.#style))
    else if (before !== undefined) stdout.write(rateRow(subject, before, result, this.#style))
  }

  /** Names the columns before the first values, and again when there are new instances. */
  async #head(insts: Int32Array): Promise<void> {
    const { columns, isOpen, desc } = this.#subject
    if (columns === undefined) return
    if (!this.#hasHeading) {
      this.#io.stdout.write(this.#headings.fullNames + this.#headings.lines(columns))
      this.#hasHeading = true
    } else if (isOpen && insts.some((inst) => !columns.some((column) => column.inst === inst))) {
      this.#subject.columns = await columnsOf(this.#context, desc, undefined, this.#io)
      this.#io.stdout.write(this.#headings.lines(this.#subject.columns))
    }
  }
}
