/** pcp2json: values of metrics as JSON. pcp2json(1) */
import { withSignal } from '../../base/with-signal.ts'
import { PcpError } from '../../model/errors.ts'
import type { OptionTable } from '../lib/options.ts'
import {
  DOCUMENT_ROWS,
  Elapsed,
  type Export,
  exporterRows,
  inOrder,
  type NameTree,
  newTree,
  plant,
  runExporter,
  semanticsText,
  typeText,
  valueText,
} from '../lib/report/export.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { type Cell, isReal } from '../lib/report/values.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'

const OWN: readonly ReportOption[] = [
  ...DOCUMENT_ROWS,
  {
    short: 'E',
    long: 'exact-types',
    key: 'exact_types',
    value: 'yes',
    help: 'numbers as numbers, not as text',
  },
  { short: 'u', long: 'url', key: 'url', arg: 'URL', help: 'send the document there when it is complete' },
  {
    short: 'o',
    long: 'http-timeout',
    key: 'http_timeout',
    arg: 'SECONDS',
    help: 'give up sending after SECONDS (2.5)',
  },
  { short: 'p', long: 'http-pass', key: 'http_pass', arg: 'TEXT', help: 'password for sending' },
  { short: 'U', long: 'http-user', key: 'http_user', arg: 'NAME', help: 'user for sending' },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: exporterRows(OWN),
}

/** Writes JSON. */
export const tool: Tool = {
  name: 'pcp2json',
  summary: 'Values of metrics as JSON',
  description: `
Writes one JSON document with the values of metrics at every sample, when it ends. Two lines before it say what is being done; -H leaves them
out, so that what is written is JSON.`,
  examples: [
    ['pcp2json -a ARCHIVE -H -E -t 1h kernel.all.load', 'The load of every hour of an archive, as numbers:'],
  ],
  seeAlso: ['pmrep', 'pcp2xml'],
  options: OPTIONS,
  endsInOrder: true,
  run: (io) =>
    runExporter({ name: 'pcp2json', table: OPTIONS, make: (work) => new JsonReporter(work, io) }, io),
}

/** Begins text that is a number to be: no value of a metric has it. */
const BARE = '\0'

/** Takes the quotes from numbers that were text until now. */
function bared(text: string): string {
  return text.replaceAll(/"\\u0000(-?\d+\.0)"/g, '$1')
}

type Json = string | number | Json[] | { [key: string]: Json }

/** Collects samples, and writes them all at the end. */
class JsonReporter implements Reporter {
  readonly #work: Export
  readonly #io: ToolIo
  readonly #samples: Json[] = []
  readonly #elapsed = new Elapsed()

  constructor(work: Export, io: ToolIo) {
    this.#work = work
    this.#io = io
  }

  begin(): void {
    const { notes, plan } = this.#work
    const { stdout } = this.#io
    const [what, how] = notes
    if (what === undefined || how === undefined) return
    const isArchive = plan.archiveName !== undefined
    stdout.write(
      `{ "//": "${isArchive ? 'Writing' : 'Waiting for'} ${isArchive ? what : what.replace(' to ', ' to be written to ')}" }\n`,
    )
    stdout.write(`{ "//": "${how.startsWith('Ctrl') ? `(${how})` : how}" }\n`)
  }

  sample({ time, readings }: Sample): void {
    const { plan, stamps } = this.#work
    const tree = newTree<Json>()
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = readings[i]!
      if (!cells.hasValues()) continue
      const leaves = cells.places().map((k) => this.#leaf(metric, cells.insts[k]!, cells.at(k)!))
      plant(tree, metric.name, metric.hasInstances ? { '@instances': leaves } : leaves[0]!)
    }
    const interval = String(this.#elapsed.next(time))
    this.#samples.push({ '@interval': interval, '@timestamp': stamps.text(time), ...nested(tree) })
  }

  async end(): Promise<void> {
    const { plan, source, offset, out } = this.#work
    const host = { '@host': plan.host, '@metrics': this.#samples, '@source': source, '@timezone': offset }
    const text = `${bared(JSON.stringify({ '@pcp': { '@hosts': [host] } }, undefined, 2))}\n`
    if (plan.settings.url === undefined) out.write(text)
    else await post(plan.settings.url, text, this.#work, this.#io.signal)
  }

  /** Keys in the order of the alphabet. */
  #leaf(metric: ReportMetric, inst: number, cell: NonNullable<Cell>): { [key: string]: Json } {
    const { plan, labels } = this.#work
    const { extended, everything, include_labels, exact_types } = plan.settings
    const { desc, units, hasInstances } = metric
    return {
      ...(everything && hasInstances ? { '@id': String(inst), '@indom': desc.indom } : {}),
      ...(include_labels ? { '@labels': labelText(labels.get(metric.name), inst) } : {}),
      ...(everything ? { '@pmid': desc.pmid } : {}),
      ...(extended || everything ? { '@semantics': semanticsText(metric), '@type': typeText(metric) } : {}),
      ...(units.text === '' ? {} : { '@unit': units.text }),
      ...(hasInstances ? { name: plan.nameOf(metric, inst) } : {}),
      value: exact_types ? exactly(metric, cell) : valueText(metric, cell),
    }
  }
}

function nested(tree: NameTree<Json>): { [key: string]: Json } {
  const object: { [key: string]: Json } = {}
  for (const [name, node] of inOrder(tree)) {
    const below = node.children.size > 0 ? nested(node) : {}
    object[name] =
      typeof node.leaf === 'object' && !Array.isArray(node.leaf) ? { ...below, ...node.leaf } : below
  }
  return object
}

/** A number where JSON has one: 64-bit integers beyond 2^53, and what is no number, stay text. */
function exactly(metric: ReportMetric, cell: NonNullable<Cell>): Json {
  if (typeof cell !== 'number') return valueText(metric, cell)
  if (!Number.isFinite(cell)) return valueText(metric, cell)
  if (!isReal(metric)) return cell
  const value = Number(valueText(metric, cell))
  // Readers that tell reals from integers by the point find one, as in PCP's documents.
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${BARE}${value}.0` : value
}

async function post(
  url: string,
  body: string,
  { plan: { settings } }: Export,
  signal: AbortSignal,
): Promise<void> {
  const { http_timeout, http_user, http_pass } = settings
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (http_user !== undefined)
    headers['Authorization'] = `Basic ${Buffer.from(`${http_user}:${http_pass ?? ''}`).toString('base64')}`
  try {
    const response = await withSignal({ signals: [signal], timeoutMs: http_timeout * 1000 }, (within) =>
      fetch(url, { method: 'POST', headers, body, signal: within }),
    )
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
  } catch (error) {
    throw new PcpError('PM_ERR_GENERIC', `Cannot send to ${url}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
