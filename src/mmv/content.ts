/** Encodes the contents of an MMV file; the inverse of `parseMmv`. docs/formats/mmv.md */
import { encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { PM_TYPE_STRING } from '../model/types.ts'
import {
  HEADER_SIZE,
  INDOM_SIZE,
  INSTANCE_SIZES,
  IS_LITTLE,
  LABEL_TEXT_SIZE,
  MAX_LABELS,
  METRIC_SIZES,
  type MmvLabel,
  type MmvTexts,
  NAME_SIZE,
  STRING_SIZE,
  TOC_INDOMS,
  TOC_INSTANCES,
  TOC_LABELS,
  TOC_METRICS,
  TOC_SIZE,
  TOC_STRINGS,
  TOC_VALUES,
  VALUE_SIZE,
} from './layout.ts'

/** An instance domain to be encoded. */
export interface IndomContent {
  readonly serial: number
  readonly ids: readonly number[]
  readonly names: readonly string[]
  readonly texts: MmvTexts
}

/** A metric to be encoded. */
export interface MetricContent {
  readonly name: string
  readonly item: number
  /** PM_TYPE_*, or MMV_TYPE_ELAPSED. */
  readonly type: number
  readonly sem: number
  readonly units: number
  /** Its domain, with a value for each instance; undefined for a metric with one value. */
  readonly indom: IndomContent | undefined
  readonly texts: MmvTexts
}

/** Contents of a file. */
export interface MmvContent {
  readonly version: 1 | 2 | 3
  /** MMV_FLAG_*. */
  readonly flags: number
  readonly pid: number
  readonly cluster: number
  readonly generation: bigint
  readonly indoms: readonly IndomContent[]
  readonly metrics: readonly MetricContent[]
  readonly labels: readonly MmvLabel[]
}

/** An encoded file, with the offsets of each metric's values. */
export interface EncodedMmv {
  readonly bytes: Uint8Array
  readonly values: readonly (readonly number[])[]
}

/** Returns the lowest version that can hold the content: labels need 3, names above 63 bytes need 2. */
export function versionFor(content: Pick<MmvContent, 'indoms' | 'metrics' | 'labels'>): 1 | 2 | 3 {
  if (content.labels.length > 0) return 3
  const names = [...content.metrics.map(({ name }) => name), ...content.indoms.flatMap(({ names }) => names)]
  return names.some((name) => encodeText(name).length >= NAME_SIZE) ? 2 : 1
}

/** Encodes a complete file in which all values are 0. E2BIG names a text that is too long or a count that is too high. */
export function encodeMmv(content: MmvContent): EncodedMmv {
  return new Encoder(content).encode()
}

class Encoder {
  readonly #content: MmvContent
  readonly #strings: Uint8Array[] = []
  readonly #instances: number
  readonly #values: number
  readonly #at: { readonly [type: number]: number }
  readonly #sections: readonly (readonly [type: number, count: number, size: number])[]
  readonly #stringsAt: number
  #bytes = new Uint8Array(0)
  #view = new DataView(this.#bytes.buffer)

  constructor(content: MmvContent) {
    const { indoms, metrics, labels, version } = content
    if (labels.length > MAX_LABELS)
      throw new PcpError('E2BIG', `${labels.length} label records: a file holds at most ${MAX_LABELS}`)
    if (labels.length > 0 && version < 3)
      throw new PcpError('EINVAL', `Labels need version 3 of the file, not ${version}`)
    this.#content = content
    this.#instances = indoms.reduce((sum, { ids }) => sum + ids.length, 0)
    this.#values = metrics.reduce((sum, { indom }) => sum + (indom === undefined ? 1 : indom.ids.length), 0)
    const all = [
      [TOC_INDOMS, indoms.length, INDOM_SIZE],
      [TOC_INSTANCES, this.#instances, INSTANCE_SIZES[version]],
      [TOC_METRICS, metrics.length, METRIC_SIZES[version]],
      [TOC_VALUES, this.#values, VALUE_SIZE],
      [TOC_LABELS, labels.length, STRING_SIZE],
    ] as const
    // Readers expect at least two sections, so metrics and values are present even if empty.
    this.#sections = all.filter(([type, count]) => count > 0 || type === TOC_METRICS || type === TOC_VALUES)
    let at = HEADER_SIZE + (this.#sections.length + 1) * TOC_SIZE
    const places: { [type: number]: number } = {}
    for (const [type, count, size] of this.#sections) {
      places[type] = at
      at += count * size
    }
    this.#at = places
    this.#stringsAt = at
  }

  encode(): EncodedMmv {
    // Sections before the texts come first; the number of texts is known only at the end.
    const head = new Uint8Array(this.#stringsAt)
    this.#bytes = head
    this.#view = new DataView(head.buffer)
    const instances = this.#writeIndoms()
    const values = this.#writeMetrics(instances)
    for (const [i, label] of this.#content.labels.entries())
      this.#writeLabel(this.#at[TOC_LABELS]! + i * STRING_SIZE, label)
    this.#writeHeader()
    const bytes = new Uint8Array(head.length + this.#strings.length * STRING_SIZE)
    bytes.set(head)
    for (const [i, text] of this.#strings.entries()) bytes.set(text, head.length + i * STRING_SIZE)
    return { bytes, values }
  }

  #writeHeader(): void {
    const { version, flags, pid, cluster, generation } = this.#content
    this.#bytes.set([0x4d, 0x4d, 0x56, 0])
    this.#u32(4, version)
    this.#view.setBigUint64(8, generation, IS_LITTLE)
    this.#view.setBigUint64(16, generation, IS_LITTLE)
    const strings = this.#strings.length
    this.#u32(24, this.#sections.length + (strings > 0 ? 1 : 0))
    for (const [i, word] of [flags, pid, cluster].entries()) this.#u32(28 + i * 4, word)
    const toc = this.#sections.map(([type, count]) => [type, count, this.#at[type]!] as const)
    if (strings > 0) toc.push([TOC_STRINGS, strings, this.#stringsAt])
    for (const [i, [type, count, offset]] of toc.entries()) {
      this.#u32(HEADER_SIZE + i * TOC_SIZE, type)
      this.#u32(HEADER_SIZE + i * TOC_SIZE + 4, count)
      this.#offset(HEADER_SIZE + i * TOC_SIZE + 8, offset)
    }
  }

  /** Returns the offset of each domain's first instance. */
  #writeIndoms(): ReadonlyMap<IndomContent, number> {
    const size = INSTANCE_SIZES[this.#content.version]
    const first = new Map<IndomContent, number>()
    let next = this.#at[TOC_INSTANCES] ?? 0
    for (const [i, indom] of this.#content.indoms.entries()) {
      const at = this.#at[TOC_INDOMS]! + i * INDOM_SIZE
      first.set(indom, next)
      this.#u32(at, indom.serial)
      this.#u32(at + 4, indom.ids.length)
      this.#offset(at + 8, next)
      this.#writeTexts(at + 16, indom.texts, `Instance domain ${indom.serial}`)
      for (const [k, id] of indom.ids.entries()) {
        this.#offset(next, at)
        this.#u32(next + 12, id)
        this.#writeName(next + 16, indom.names[k]!)
        next += size
      }
    }
    return first
  }

  #writeMetrics(instances: ReadonlyMap<IndomContent, number>): number[][] {
    const { metrics, version } = this.#content
    let next = this.#at[TOC_VALUES]!
    return metrics.map((metric, i) => {
      const at = this.#at[TOC_METRICS]! + i * METRIC_SIZES[version]
      const { indom } = metric
      this.#writeMetric(at, metric)
      const first = indom === undefined ? 0 : instances.get(indom)!
      return Array.from({ length: indom?.ids.length ?? 1 }, (_, k) => {
        const value = next
        next += VALUE_SIZE
        if (metric.type === PM_TYPE_STRING) this.#offset(value + 8, this.#addString(new Uint8Array(0)))
        this.#offset(value + 16, at)
        this.#offset(value + 24, indom === undefined ? 0 : first + k * INSTANCE_SIZES[version])
        return value
      })
    })
  }

  #writeMetric(at: number, { name, item, type, sem, units, indom, texts }: MetricContent): void {
    this.#writeName(at, name)
    const rest = at + (this.#content.version === 1 ? NAME_SIZE : 8)
    const words = [item, type, sem, units, indom?.serial ?? 0xffffffff]
    for (const [i, word] of words.entries()) this.#u32(rest + i * 4, word)
    this.#writeTexts(rest + 24, texts, `Metric ${name}`)
  }

  #writeLabel(at: number, { flags, id, inst, json }: MmvLabel): void {
    for (const [i, word] of [flags, id, inst].entries()) this.#u32(at + i * 4, word)
    this.#bytes.set(bounded(json, LABEL_TEXT_SIZE, `Label ${json}`), at + 12)
  }

  #writeTexts(at: number, { oneline, help }: MmvTexts, what: string): void {
    for (const [i, text] of [oneline, help].entries())
      if (text !== undefined)
        this.#offset(at + i * 8, this.#addString(bounded(text, STRING_SIZE, `${what}: help text`)))
  }

  #writeName(at: number, name: string): void {
    if (this.#content.version === 1) this.#bytes.set(bounded(name, NAME_SIZE, `Name ${name}`), at)
    else this.#offset(at, this.#addString(bounded(name, STRING_SIZE, `Name ${name}`)))
  }

  #addString(text: Uint8Array): number {
    return this.#stringsAt + (this.#strings.push(text) - 1) * STRING_SIZE
  }

  #u32(at: number, value: number): void {
    this.#view.setUint32(at, value, IS_LITTLE)
  }

  #offset(at: number, value: number): void {
    this.#view.setBigUint64(at, BigInt(value), IS_LITTLE)
  }
}

/** Encodes a text that must fit a record with its NUL. */
function bounded(text: string, size: number, what: string): Uint8Array {
  const bytes = encodeText(text)
  if (bytes.length < size) return bytes
  throw new PcpError('E2BIG', `${what} has ${bytes.length} bytes: at most ${size - 1} are allowed`)
}
