/** One source: the metrics found in its documents, and the values of the last one. docs/reference/agents/openmetrics.md */
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import type { Value } from '../../model/values.ts'
import type { Labels } from '../../pmda/define.ts'
import { foreignLabels } from '../lib/foreign-names.ts'
import type { ExposedSample, ExpositionReader, LabelMap } from './exposition.ts'
import { isIncluded, type Metadata, metadataOf } from './metadata.ts'
import type { NameTable } from './name-table.ts'
import { type SourceConfig, verdictOn } from './source-config.ts'
import { readValue } from './values.ts'

/** A metric of a source. */
export interface SourceMetric {
  readonly item: number
  readonly metadata: Metadata
  readonly help: { readonly oneline: string; readonly help: string }
  /** Undefined for a metric with one value. */
  readonly instances: NameTable | undefined
  /** Values of the last document by instance (PM_IN_NULL for a metric with one value). */
  readonly values: Map<number, Value>
  /** Labels of the metric: of its first line and of the lines of the last document; later ones win. */
  readonly labels: () => Labels
  /** Labels marked OPTIONAL. */
  readonly notes: Labels
  /** Labels of an instance. */
  readonly instanceLabels: (inst: number) => Labels | undefined
}

/** A metric with its internal state. */
interface Entry extends SourceMetric {
  /** Instance-naming labels of the lines of the last document. */
  readonly lines: LabelMap[]
  /** Last labels of each instance. */
  readonly naming: Map<number, LabelMap>
}

/** Options of a source. */
export interface SourceOptions {
  readonly config: SourceConfig
  /** Numbers of metrics. */
  readonly items: NameTable
  /** Numbers of the instances of a metric. */
  readonly instancesOf: (item: number) => NameTable
  /** Called for each problem with a line of the document. */
  readonly problem: (line: number, why: string) => void
}

/** Labels of a line, sorted by the configuration. */
interface Sorted {
  /** Labels that name the instance. */
  readonly naming: LabelMap
  readonly optional: LabelMap
  /** Whether there are any labels. */
  readonly any: boolean
  /** Naming labels in order of their names, as one text. */
  readonly text: string
}

const NO_LABELS: Sorted = { naming: new Map(), optional: new Map(), any: false, text: '' }
const MAX_NAME = 1024
/** Most names remembered as refused; then the set is cleared. */
const MAX_REFUSED = 10_000

/** A source and the metrics of all its documents so far. */
export class Source {
  readonly #options: SourceOptions
  readonly #metrics = new Map<string, Entry>()
  /** Keyed by label object: the reader returns the same object for the same text. */
  readonly #sorted = new WeakMap<LabelMap, Sorted>()
  /** Invalid metric names, which are reported once. */
  readonly #refused = new Set<string>()

  constructor(options: SourceOptions) {
    this.#options = options
  }

  /** In order of first appearance. */
  get metrics(): Iterable<SourceMetric> {
    return this.#metrics.values()
  }

  /** Removes all values when the document could not be read. */
  clear(): void {
    for (const { values, lines } of this.#metrics.values()) {
      values.clear()
      lines.length = 0
    }
  }

  /** Takes the values of a document. Returns true if there are new metrics. */
  update({ samples }: ExpositionReader): boolean {
    this.clear()
    const known = this.#metrics.size
    const sorted = samples.map(({ labels }) => this.#sort(labels))
    // A metric has instances if any of its lines, not only the first, has labels.
    const labelled = new Set<string>()
    for (const [i, { name }] of samples.entries()) if (sorted[i]!.any) labelled.add(name)
    for (const [i, sample] of samples.entries()) {
      const metric = this.#metricOf(sample, sorted[i]!, labelled.has(sample.name))
      if (metric !== undefined) this.#takeValue(metric, sample, sorted[i]!)
    }
    return this.#metrics.size > known
  }

  /** Saves assigned numbers. Throws Node's error. */
  save(): void {
    this.#options.items.save()
    for (const { instances } of this.#metrics.values()) instances?.save()
  }

  #sort(labels: LabelMap | undefined): Sorted {
    if (labels === undefined) return NO_LABELS
    const known = this.#sorted.get(labels)
    if (known !== undefined) return known
    const naming = new Map<string, string>()
    const optional = new Map<string, string>()
    for (const [name, value] of labels) {
      const verdict = verdictOn(this.#options.config, 'LABEL', name)
      if (verdict === 'INCLUDE') naming.set(name, value)
      else if (verdict === 'OPTIONAL') optional.set(name, value)
    }
    const sorted = { naming, optional, any: naming.size + optional.size > 0, text: joined(naming) }
    this.#sorted.set(labels, sorted)
    return sorted
  }

  #metricOf(sample: ExposedSample, labels: Sorted, hasInstances: boolean): Entry | undefined {
    const { name } = sample
    const known = this.#metrics.get(name)
    if (known !== undefined || this.#refused.has(name)) return known
    try {
      const metric = this.#newMetric(sample, labels, hasInstances)
      if (metric !== undefined) {
        this.#metrics.set(name, metric)
        return metric
      }
    } catch (error) {
      this.#options.problem(sample.line, PcpError.from(error).message)
    }
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear()
    this.#refused.add(name)
    return undefined
  }

  /** Undefined if the configuration excludes it. Throws PcpError for an impossible metric. */
  #newMetric(sample: ExposedSample, labels: Sorted, hasInstances: boolean): Entry | undefined {
    const { name, block, line } = sample
    const { config, items, instancesOf, problem } = this.#options
    if (!isIncluded(name, config)) return undefined
    if (!/^[A-Za-z][\w.:]*$/.test(name))
      throw new PcpError('PM_ERR_NAME', `"${name}" is not a valid metric name`)
    const metadata = metadataOf(name, block, config)
    if (!/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/.test(metadata.name))
      throw new PcpError('PM_ERR_NAME', `"${metadata.name}" is not a valid metric name`)
    for (const why of metadata.problems) problem(line, `${name}: ${why}`)
    const item = items.numberOf(name)
    const lines: LabelMap[] = []
    const naming = new Map<number, LabelMap>()
    return {
      item,
      metadata,
      help: helpOf(block.help),
      instances: hasInstances && !metadata.hasOneValue ? instancesOf(item) : undefined,
      values: new Map(),
      labels: () => together(labels.naming, lines),
      notes: foreignLabels(labels.optional),
      instanceLabels: (inst) => instanceLabels(naming.get(inst)),
      lines,
      naming,
    }
  }

  #takeValue(metric: Entry, { name, value, line }: ExposedSample, labels: Sorted): void {
    const { problem } = this.#options
    const read = readValue(value, metric.metadata.type)
    if (read instanceof PcpError) {
      problem(line, `${name}: ${read.message}`)
      return
    }
    try {
      const inst = metric.instances === undefined ? PM_IN_NULL : instanceOf(metric, metric.instances, labels)
      metric.values.set(inst, read)
    } catch (error) {
      problem(line, `${name}: ${PcpError.from(error).message}`)
    }
  }
}

/** Returns the instance of a line. PM_ERR_TOOBIG if it is new and the limit is reached. */
function instanceOf(metric: Entry, table: NameTable, { naming, text }: Sorted): number {
  // Exporters of PCP metrics set the instance's name as a label.
  const given = metric.metadata.isFromPcp ? (naming.get('instname') ?? naming.get('instance')) : undefined
  const name = given ?? text
  if (name.length > MAX_NAME)
    throw new PcpError('PM_ERR_TOOBIG', `The labels together are longer than ${MAX_NAME} characters`)
  const inst = table.numberOf(name)
  if (given === undefined) {
    table.usePrefix()
    metric.lines.push(naming)
  }
  metric.naming.set(inst, naming)
  return inst
}

function together(first: LabelMap, others: readonly LabelMap[]): Labels {
  const all = new Map(first)
  for (const labels of others) for (const [name, value] of labels) all.set(name, value)
  return foreignLabels(all)
}

function instanceLabels(naming: LabelMap | undefined): Labels | undefined {
  return naming && foreignLabels([...naming].filter(([label]) => label !== 'instname'))
}

function joined(labels: LabelMap): string {
  return [...labels]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}:${value}`)
    .join(' ')
}

function helpOf(help: string | undefined): SourceMetric['help'] {
  const text = (help ?? '').replace(/\\([\\n])/g, (_all, char: string) => (char === 'n' ? '\n' : '\\'))
  const newline = text.indexOf('\n')
  if (newline < 0) return { oneline: text, help: '' }
  return { oneline: text.slice(0, newline), help: text.slice(newline + 1) }
}
