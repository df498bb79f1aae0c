/** One source: the metrics that a document was found to have, and their values when it was read last. docs/openmetrics.md */
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import type { Value } from '../../model/values.ts'
import type { Labels } from '../../pmda/define.ts'
import { foreignLabels } from '../lib/foreign-names.ts'
import type { ExposedSample, ExpositionReader, LabelMap } from './exposition.ts'
import { isWanted, type Metadata, metadataOf } from './metadata.ts'
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
  /** By instance (PM_IN_NULL for the one value of a metric without them), of the document read last. */
  readonly values: Map<number, Value>
  /** Labels of the metric: of its first line, and of the lines of the document read last, later ones stronger. */
  readonly labels: () => Labels
  /** Labels that are OPTIONAL. */
  readonly notes: Labels
  /** Labels of an instance. */
  readonly instanceLabels: (inst: number) => Labels | undefined
}

/** What belongs to a metric besides. */
interface Entry extends SourceMetric {
  /** Labels of the lines of the document read last, as far as instances are named after them. */
  readonly lines: LabelMap[]
  /** Labels that each instance had last. */
  readonly naming: Map<number, LabelMap>
}

/** What a source is made of. */
export interface SourceOptions {
  readonly config: SourceConfig
  /** Numbers of metrics. */
  readonly items: NameTable
  /** Numbers of the instances of a metric. */
  readonly instancesOf: (item: number) => NameTable
  /** Hears what is wrong with a line of the document. */
  readonly problem: (line: number, why: string) => void
}

/** The labels of a line, as the configuration sorts them. */
interface Sorted {
  /** Those that name the instance. */
  readonly naming: LabelMap
  readonly optional: LabelMap
  /** Is there any? */
  readonly any: boolean
  /** The former in order of their names, as one text. */
  readonly text: string
}

const NO_LABELS: Sorted = { naming: new Map(), optional: new Map(), any: false, text: '' }
const MAX_NAME = 1024
/** Names remembered as refused; with more, all are judged again. */
const MAX_REFUSED = 10_000

/** A source and what it has said so far. */
export class Source {
  readonly #options: SourceOptions
  readonly #metrics = new Map<string, Entry>()
  /** The reader gives the same object for the same text. */
  readonly #sorted = new WeakMap<LabelMap, Sorted>()
  /** Names that can be no metric, which are reported once. */
  readonly #refused = new Set<string>()

  constructor(options: SourceOptions) {
    this.#options = options
  }

  /** In the order in which they were first seen. */
  get metrics(): Iterable<SourceMetric> {
    return this.#metrics.values()
  }

  /** Forgets all values: the document could not be read. */
  clear(): void {
    for (const { values, lines } of this.#metrics.values()) {
      values.clear()
      lines.length = 0
    }
  }

  /** Takes over the values of a document; true when there are metrics that were not there before. */
  take({ samples }: ExpositionReader): boolean {
    this.clear()
    const known = this.#metrics.size
    const sorted = samples.map(({ labels }) => this.#sort(labels))
    // A metric has instances when any of its lines has labels: the first one need not.
    const labelled = new Set<string>()
    for (const [i, { name }] of samples.entries()) if (sorted[i]!.any) labelled.add(name)
    for (const [i, sample] of samples.entries()) {
      const metric = this.#metricOf(sample, sorted[i]!, labelled.has(sample.name))
      if (metric !== undefined) this.#takeValue(metric, sample, sorted[i]!)
    }
    return this.#metrics.size > known
  }

  /** Writes the numbers that were given out to their files. Throws Node's error. */
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

  /** Undefined when the configuration does not want it. Throws PcpError when there can be no such metric. */
  #newMetric(sample: ExposedSample, labels: Sorted, hasInstances: boolean): Entry | undefined {
    const { name, block, line } = sample
    const { config, items, instancesOf, problem } = this.#options
    if (!isWanted(name, config)) return undefined
    if (!/^[A-Za-z][\w.:]*$/.test(name))
      throw new PcpError('PM_ERR_NAME', `"${name}" can be no name of a metric`)
    const metadata = metadataOf(name, block, config)
    if (!/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/.test(metadata.name))
      throw new PcpError('PM_ERR_NAME', `"${metadata.name}" can be no name of a metric`)
    for (const why of metadata.problems) problem(line, `${name}: ${why}`)
    const item = items.numberOf(name)
    const lines: LabelMap[] = []
    const naming = new Map<number, LabelMap>()
    return {
      item,
      metadata,
      help: helpOf(block.help),
      instances: hasInstances && !metadata.isSingular ? instancesOf(item) : undefined,
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

/** The instance that a line is about. Throws PM_ERR_TOOBIG when it is new and there can be no more. */
function instanceOf(metric: Entry, table: NameTable, { naming, text }: Sorted): number {
  // Whoever exposes metrics of PCP says what their instances are called.
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
