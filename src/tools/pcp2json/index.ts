/** pcp2json: exports metric values as JSON. pcp2json(1) */
import type { OptionTable } from '../lib/options.ts'
import {
  addLeaf,
  DOCUMENT_ROWS,
  Elapsed,
  type ExportInput,
  exporterRows,
  type NameTree,
  newTree,
  runExporter,
  semanticsText,
  sortedChildren,
  typeText,
  valueText,
} from '../lib/report/export.ts'
import { bared, exactly } from '../lib/report/json-numbers.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportOption } from '../lib/report/options.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Settings } from '../lib/report/settings.ts'
import type { Cell } from '../lib/report/values.ts'
import { httpServer, sendHttp } from '../lib/send/http.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'

const OWN: readonly ReportOption[] = [
  ...DOCUMENT_ROWS,
  {
    short: 'E',
    long: 'exact-types',
    key: 'exact_types',
    value: 'yes',
    help: 'write numbers as JSON numbers instead of text',
  },
  { short: 'u', long: 'url', key: 'url', arg: 'URL', help: 'send the complete document to URL' },
  {
    short: 'o',
    long: 'http-timeout',
    key: 'http_timeout',
    arg: 'SECONDS',
    help: 'time limit for sending (default 2.5)',
  },
  { short: 'p', long: 'http-pass', key: 'http_pass', arg: 'TEXT', help: 'password for sending' },
  { short: 'U', long: 'http-user', key: 'http_user', arg: 'NAME', help: 'user for sending' },
]

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: exporterRows(OWN),
}

export const tool: Tool = {
  name: 'pcp2json',
  summary: 'Values of metrics as JSON',
  description: `
Writes a JSON document with the values of metrics at every sample when it ends. Two lines before it describe the export; use -H to
leave them out, so that the output is valid JSON.`,
  examples: [
    ['pcp2json -a ARCHIVE -H -E -t 1h kernel.all.load', 'The load of every hour of an archive, as numbers:'],
  ],
  seeAlso: ['pmrep', 'pcp2xml'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter({ name: 'pcp2json', table: OPTIONS, make: (work) => new JsonReporter(work, io) }, io),
}

type Json = string | number | Json[] | { [key: string]: Json }

/** Collects samples, and writes them all at the end. */
class JsonReporter implements Reporter {
  readonly #work: ExportInput
  readonly #io: ToolIo
  readonly #samples: Json[] = []
  readonly #elapsed = new Elapsed()

  constructor(work: ExportInput, io: ToolIo) {
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

  sample({ time, values }: Sample): void {
    const { plan, stamps } = this.#work
    const tree = newTree<Json>()
    for (const [i, metric] of plan.metrics.entries()) {
      const cells = values[i]!
      if (!cells.hasValues()) continue
      const leaves = cells.valueIndices().map((k) => this.#leaf(metric, cells.insts[k]!, cells.at(k)!))
      addLeaf(tree, metric.name, metric.hasInstances ? { '@instances': leaves } : leaves[0]!)
    }
    const interval = String(this.#elapsed.next(time))
    this.#samples.push({ '@interval': interval, '@timestamp': stamps.text(time), ...nested(tree) })
  }

  async end(): Promise<void> {
    const { plan, source, offset, out } = this.#work
    const host = { '@host': plan.host, '@metrics': this.#samples, '@source': source, '@timezone': offset }
    const text = `${bared(JSON.stringify({ '@pcp': { '@hosts': [host] } }, undefined, 2))}\n`
    if (plan.settings.url === undefined) out.write(text)
    else await post(plan.settings, text, this.#io.signal)
  }

  /** Returns a metric's object with its keys in alphabetical order. */
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
  for (const [name, node] of sortedChildren(tree)) {
    const below = node.children.size > 0 ? nested(node) : {}
    object[name] =
      typeof node.leaf === 'object' && !Array.isArray(node.leaf) ? { ...below, ...node.leaf } : below
  }
  return object
}

async function post(
  { url, http_timeout, http_user, http_pass }: Settings,
  body: string,
  signal: AbortSignal,
): Promise<void> {
  const server = httpServer(url!, http_user, http_pass)
  const timeoutMs = http_timeout * 1000
  await sendHttp(server, { method: 'POST', type: 'application/json', body, timeoutMs, signal })
}
