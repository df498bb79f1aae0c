/** pcp2openmetrics: exports metric values in OpenMetrics format. pcp2openmetrics(1) */
import { PcpError } from '../../model/errors.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_STRING, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import type { OptionTable } from '../lib/options.ts'
import {
  type ExportInput,
  exporterRows,
  runExporter,
  semanticsText,
  valueText,
} from '../lib/report/export.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Tool } from '../lib/tool.ts'

const OWN: readonly ReportOption[] = [
  { short: 'l', long: 'times', key: 'times', value: 'yes', help: 'add the time to every value' },
  {
    short: 'x',
    long: 'no-comment',
    key: 'no_comment',
    value: 'yes',
    help: 'leave out the lines with PCP descriptors',
  },
  { short: 'X', long: 'with-everything', key: 'everything', value: 'yes', help: 'all labels' },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: exporterRows(OWN),
}

/** Labels written by default, in this order. */
const LABELS = ['domainname', 'test', 'groupid', 'hostname', 'machineid', 'userid']
/** Labels written after the instance. */
const LATE_LABELS = ['agent', 'device_type', 'indom_name']

export const tool: Tool = {
  name: 'pcp2openmetrics',
  summary: 'Values of metrics as OpenMetrics',
  description: `
Writes the values of metrics at every sample in the format read by Prometheus and others. Counters are not converted to rates. Text
metrics are left out, as the format does not support them.`,
  examples: [['pcp2openmetrics -s 1 kernel.all.load', 'The load now:']],
  seeAlso: ['pmrep', 'pcp2json'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter(
      {
        name: 'pcp2openmetrics',
        table: OPTIONS,
        preset: { type: true, include_labels: true },
        make: (work) => new OpenMetricsReporter(work),
      },
      io,
    ),
}

/** Writes a block of lines for each sample. */
class OpenMetricsReporter implements Reporter {
  readonly #work: ExportInput
  readonly #described = new Set<string>()
  readonly #helps = new Map<string, string>()

  constructor(work: ExportInput) {
    this.#work = work
  }

  async begin(): Promise<void> {
    const { context, metrics } = this.#work.plan
    for (const { name, desc } of metrics) {
      try {
        this.#helps.set(name, await context.text(desc.pmid, { level: 'oneline' }))
      } catch (error) {
        if (!(error instanceof PcpError)) throw error // the metric has no help text
      }
    }
  }

  sample({ time, values }: Sample): void {
    const { plan, out } = this.#work
    const stamp = plan.settings.times
      ? ` ${time.sec}.${String(Math.floor(time.nsec / 1e6)).padStart(3, '0')}`
      : ''
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = values[i]!
      if (metric.desc.type === PM_TYPE_STRING) continue
      const name = metric.name.replaceAll(/\W/g, '_')
      const total = metric.desc.sem === PM_SEM_COUNTER ? '_total' : ''
      for (let k = 0; k < cells.size; k++) {
        const cell = cells.at(k)
        if (cell === undefined) continue
        this.#describe(metric, name)
        out.write(
          `${name}${total}${this.#labels(metric, cells.insts[k]!)} ${special(valueText(metric, cell))}${stamp}\n`,
        )
      }
    }
  }

  end(): void {
    this.#work.out.write('# EOF\n')
  }

  /** Describes a metric before its first value. */
  #describe(metric: ReportMetric, name: string): void {
    if (this.#described.has(name)) return
    this.#described.add(name)
    const { plan, out } = this.#work
    const { pmid, type, indom, units } = metric.desc
    if (!plan.settings.no_comment) {
      const domain = indom === PM_INDOM_NULL ? 'PM_INDOM_NULL' : indomStr(indom)
      const words = [pmidStr(pmid), typeStr(type), domain, semanticsText(metric), unitsStr(units) || 'none']
      out.write(`# PCP5 ${escaped(metric.name)} ${words.join(' ')}\n`)
    }
    out.write(`# TYPE ${name} ${metric.desc.sem === PM_SEM_COUNTER ? 'counter' : 'gauge'}\n`)
    const help = this.#helps.get(metric.name)
    if (help !== undefined) out.write(`# HELP ${name} ${escaped(help)}\n`)
  }

  #labels(metric: ReportMetric, inst: number): string {
    const { plan, labels } = this.#work
    const known = JSON.parse(labelText(labels.get(metric.name), inst, '"')) as Record<string, unknown>
    const instance: Record<string, unknown> = metric.hasInstances
      ? { instname: plan.nameOf(metric, inst), instid: inst }
      : {}
    const all = plan.settings.everything
      ? { semantics: semanticsText(metric), type: typeStr(metric.desc.type), ...instance, ...known }
      : { ...picked(known, LABELS), ...instance, ...picked(known, LATE_LABELS) }
    const texts = Object.entries(all).map(
      ([key, value]) => `${key.replaceAll(/\W/g, '_')}="${escaped(String(value))}"`,
    )
    return texts.length === 0 ? '' : `{${texts.join(',')}}`
  }
}

function picked(
  labels: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => labels[name] !== undefined).map((name) => [name, labels[name]]),
  )
}

/** Escapes backslashes, quotes and newlines, and replaces invalid UTF-16, as readers reject documents that are not UTF-8. */
function escaped(text: string): string {
  const whole = text.replace(/\p{Cs}/gu, '\ufffd')
  return whole.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Returns the format's names of NaN and infinities. */
function special(text: string): string {
  return { nan: 'NaN', inf: '+Inf', '-inf': '-Inf' }[text] ?? text
}
