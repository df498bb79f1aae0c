/**
 * pminfo: names, descriptors, help, labels and values of metrics. pminfo(1)
 *
 * Option -r, which 6.0.3 does not have, defines a derived metric.
 */
import { PcpError } from '../../model/errors.ts'
import { type Indom, indom, type Pmid, pmid } from '../../model/ids.ts'
import type { Context } from '../../pmapi/context.ts'
import { handleEarlyExit } from '../lib/options.ts'
import { printOptions } from '../lib/print.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import { boundsOf, openNames, openReport } from '../lib/source.ts'
import { parseStandard } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { KnownLabels } from './labels.ts'
import { needsSource, OPTIONS, type Report, wantedFrom } from './options.ts'
import { reportIndom, reportMetrics } from './report.ts'

/** Shows metadata and values of metrics. Status 1 if an operand could not be resolved. */
export const tool: Tool = {
  name: 'pminfo',
  summary: 'Show metric names, descriptors, help, labels and values',
  description: `
Shows names of metrics and, with options, their descriptors, help, labels and values. A name with others below it selects all of
them; without operands all metrics are shown. A PMID such as 60.0.20 selects the metrics it identifies, and an instance domain such as
60.1 is shown itself.

All metrics of a batch are fetched together, so their values are from the same time.`,
  examples: [
    ['pminfo -dt kernel.all.load', 'Descriptor and one-line help of a metric:'],
    ['pminfo -h db1 -f disk.dev', 'All disks of db1, now:'],
    ['pminfo -L -f hinv', 'Without a collector:'],
  ],
  seeAlso: ['pmval', 'pmprobe', 'pmstore'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const wanted = wantedFrom(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const names = needsSource(wanted) ? undefined : openNames(parsed.standard, io)
    const files = parsed.given.filter(({ name }) => name === 'c').map(({ value }) => value)
    const derived = { files, warning: 'derived configuration(s) error' }
    const context = names ?? (await openReport({ ...parsed.standard, derived }, io))
    try {
      for (const { name, value } of parsed.given) if (name === 'r') await register(context, value, io)
      const { zone, note } = await reportingZone(parsed.standard, context, io)
      const bounds = boundsOf(context, parsed.standard, io)
      if (bounds !== undefined) {
        io.stdout.write(note)
        wanted.batch = 1 // find each metric's first values after the origin separately
      }
      const origin = bounds && samplingWindow(parsed.standard, bounds, zone, io).origin
      context.archive?.setMode('forward', origin)
      const print = printOptions(zone, io)
      return await reportAll(
        { context, wanted, io, print, origin, eventNames: new Map(), labels: new KnownLabels(context, io) },
        parsed.operands,
      )
    } finally {
      await context.close()
    }
  },
}

/** Defines a metric given as `NAME=EXPR`. */
async function register(context: Context, text: string, io: ToolIo): Promise<void> {
  const equals = text.indexOf('=')
  if (equals < 0) throw new PcpError('PM_ERR_ARG', `-r requires NAME=EXPR, not "${text}"`)
  await context.addDerived(text.slice(0, equals).trim(), text.slice(equals + 1), io)
}

/** A resolved operand. */
type Operand =
  | { readonly kind: 'indom'; readonly indom: Indom }
  | { readonly kind: 'pmid'; readonly pmid: Pmid }
  | { readonly kind: 'name'; readonly name: string }

function operandOf(text: string): Operand {
  const numbers = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  if (numbers === null) return { kind: 'name', name: text }
  const [a, b, c] = numbers.slice(1).map(Number)
  return c === undefined || Number.isNaN(c)
    ? { kind: 'indom', indom: indom(a!, b!) }
    : { kind: 'pmid', pmid: pmid(a!, b!, c) }
}

/** Reports on each operand; metrics are collected into batches. */
async function reportAll(report: Report, operands: readonly string[]): Promise<number> {
  const { context, io, wanted } = report
  let status = 0
  let waiting: string[] = []
  const failed = async (text: string, error: unknown): Promise<void> => {
    if (!(error instanceof PcpError)) throw error
    status = 1
    const hint = await didYouMeanMetric(text, error, context, io)
    io.stderr.write(`Error: ${text === '' ? '' : `${text}: `}${error.text}${hint}\n`)
  }
  const add = async (names: readonly string[]): Promise<void> => {
    waiting.push(...names)
    while (waiting.length >= wanted.batch) {
      await reportMetrics(report, waiting.slice(0, wanted.batch))
      waiting = waiting.slice(wanted.batch)
    }
  }

  if (operands.length === 0) await context.traverse('', io).then(add, (error) => failed('', error))
  for (const text of operands) {
    const operand = operandOf(text)
    if (operand.kind === 'indom') await reportIndom(report, operand.indom)
    else await namesOf(operand, report).then(add, (error) => failed(text, error))
  }
  if (waiting.length > 0) await reportMetrics(report, waiting)
  return status
}

async function namesOf(
  operand: Exclude<Operand, { kind: 'indom' }>,
  { context, io }: Report,
): Promise<readonly string[]> {
  const name = operand.kind === 'name' ? operand.name : (await context.namesOf(operand.pmid, io))[0]!
  return context.traverse(name, io)
}
