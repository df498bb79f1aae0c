/** pcp2xml: exports metric values as XML. pcp2xml(1) */
import type { ValueColumns } from '../../model/value-columns.ts'
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
  typeText,
  valueText,
} from '../lib/report/export.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import type { Output, Tool } from '../lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] metric|:set ...',
  operands: 'metric',
  rows: exporterRows(DOCUMENT_ROWS),
}

export const tool: Tool = {
  name: 'pcp2xml',
  summary: 'Values of metrics as XML',
  description: `
Writes an XML document with an element for every sample, which contains nested elements for the parts of metric names.`,
  examples: [['pcp2xml -a ARCHIVE -t 1h kernel.all.load', 'The load of every hour of an archive:']],
  seeAlso: ['pmrep', 'pcp2json'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: (io) =>
    runExporter({ name: 'pcp2xml', table: OPTIONS, make: (work) => new XmlReporter(work, io.stdout) }, io),
}

/** A metric in one sample. */
interface Leaf {
  readonly metric: ReportMetric
  readonly readings: ValueColumns
}

/** Writes an element for each sample. */
class XmlReporter implements Reporter {
  readonly #work: ExportInput
  readonly #stdout: Output
  readonly #elapsed = new Elapsed()
  #isOpen = false

  constructor(work: ExportInput, stdout: Output) {
    this.#work = work
    this.#stdout = stdout
  }

  begin(): void {
    const { notes, out } = this.#work
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    this.#stdout.write(notes.map((note, i) => `<!-- ${i === 0 ? 'Writing ' : ''}${note} -->\n`).join(''))
  }

  /** Begins the document with the first sample, so a failed report leaves no unfinished one. */
  #open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const { out, plan, source, offset } = this.#work
    out.write(`<pcp>\n  <host nodename="${attribute(plan.host)}">\n`)
    out.write(`    <source>${content(source)}</source>\n    <timezone>${offset}</timezone>\n    <metrics>\n`)
  }

  sample({ time, values }: Sample): void {
    this.#open()
    const { out, plan, stamps } = this.#work
    const tree = newTree<Leaf>()
    for (const [i, metric] of plan.metrics.entries())
      if (values[i]!.hasValues()) addLeaf(tree, metric.name, { metric, readings: values[i]! })
    const interval = this.#elapsed.next(time)
    out.write(`      <timestamp value="${attribute(stamps.text(time))}" interval="${interval}">\n`)
    this.#branch(tree, ' '.repeat(8))
    out.write('      </timestamp>\n')
  }

  end(): void {
    this.#open()
    this.#work.out.write('    </metrics>\n  </host>\n</pcp>\n')
  }

  #branch(tree: NameTree<Leaf>, indent: string): void {
    const { out } = this.#work
    for (const [part, node] of tree.children) {
      const name = elementName(part)
      if (node.leaf !== undefined) this.#leaf(name, node.leaf, indent)
      if (node.children.size === 0) continue
      out.write(`${indent}<${name}>\n`)
      this.#branch(node, `${indent}  `)
      out.write(`${indent}</${name}>\n`)
    }
  }

  #leaf(name: string, { metric, readings }: Leaf, indent: string): void {
    const { plan, labels, out } = this.#work
    const { extended, everything, include_labels } = plan.settings
    const { desc, units, hasInstances } = metric
    for (let i = 0; i < readings.size; i++) {
      const cell = readings.at(i)
      if (cell === undefined) continue
      const inst = readings.insts[i]!
      const attributes: (readonly [string, string])[] = []
      if (hasInstances) attributes.push(['instance-name', plan.nameOf(metric, inst)])
      if (units.text !== '') attributes.push(['unit', units.text])
      if (extended || everything)
        attributes.push(['type', typeText(metric)], ['semantics', semanticsText(metric)])
      if (everything) attributes.push(['pmid', String(desc.pmid)])
      if (everything && hasInstances)
        attributes.push(['indom', String(desc.indom)], ['instance-id', String(inst)])
      if (include_labels) attributes.push(['labels', labelText(labels.get(metric.name), inst)])
      const list = attributes.map(([key, value]) => ` ${key}="${attribute(value)}"`).join('')
      out.write(`${indent}<${name}${list}>${content(valueText(metric, cell))}</${name}>\n`)
    }
  }
}

/** ASCII text without escapes, which most values are. */
const PLAIN = /^[ !#-%'-;=?-\\^-~]*$/
/** Characters that XML 1.0 cannot represent: most control characters, lone surrogates, and two noncharacters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the set to replace
const NOT_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\p{Cs}\ufffe\uffff]/gu
/** Characters that XML readers turn into blanks. */
const SPACE = /[\t\n\r]/g

function attribute(text: string): string {
  if (PLAIN.test(text)) return text
  return content(text).replaceAll('>', '&gt;').replaceAll('"', '&quot;').replace(SPACE, reference)
}

function content(text: string): string {
  if (PLAIN.test(text)) return text
  const legal = text.replace(NOT_IN_XML, '\ufffd')
  return legal
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(']]>', ']]&gt;')
    .replaceAll('\r', reference)
}

function reference(char: string): string {
  return `&#${char.charCodeAt(0)};`
}

/** Returns a part of a metric's name as a valid element name. */
function elementName(part: string): string {
  return part.replace(/[^\w.-]|^(?![A-Za-z_])/g, '_')
}
