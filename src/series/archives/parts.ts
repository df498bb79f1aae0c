/**
 * Parts of catalogues as texts that are kept once: archives of a host differ little from day to day, and hosts of a fleet have the same
 * metrics. A part is known by its digest. docs/formats/catalogue.md
 */
import { createHash } from 'node:crypto'
import { PcpError } from '../../model/errors.ts'

/** Metrics: name, PMID, type, instance domain, semantics and units of each. */
export type MetricsPart = readonly (readonly [
  name: string,
  pmid: number,
  type: number,
  indom: number,
  sem: number,
  units: number,
])[]

/** A label set: its instance, and name, value and flags of its labels. */
export type LabelsPart = readonly [
  inst: number,
  labels: readonly (readonly [name: string, value: string, flags: number])[],
]

/** Instances of a domain, and their labels. */
export interface InstancesPart {
  readonly ids: readonly number[]
  readonly names: readonly string[]
  readonly labels: readonly LabelsPart[]
}

/** What an archive has. */
export interface CataloguePart {
  readonly host: string
  readonly context: readonly LabelsPart[]
  /** Digest of a `MetricsPart`. */
  readonly metrics: string
  /** Identifiers of its series in the order of the metrics, 20 bytes each, as base64. */
  readonly ids: string
  /** Labels of domains, instance domains, clusters and metrics. */
  readonly labels: readonly (readonly [level: number, id: number, sets: readonly LabelsPart[]])[]
  /** Domains with instances: the digest of an `InstancesPart`, null if it has too many to be kept. */
  readonly indoms: readonly (readonly [indom: number, instances: string | null])[]
  /** The archive, if something has to be read from it. */
  readonly archive?: string
}

/** Parts by digest. */
export class PartPool {
  readonly #texts = new Map<string, Buffer>()
  readonly #parsed = new Map<string, unknown>()

  /** Adds a part; returns its digest. */
  add(part: MetricsPart | InstancesPart | CataloguePart): string {
    const text = Buffer.from(JSON.stringify(part))
    const digest = digestOf(text)
    if (!this.#texts.has(digest)) this.#texts.set(digest, text)
    return digest
  }

  /** Adds the text of a part from a checked file. */
  addText(digest: string, text: Buffer): void {
    if (!this.#texts.has(digest)) this.#texts.set(digest, text)
  }

  has(digest: string): boolean {
    return this.#texts.has(digest)
  }

  /** Forgets all other parts. */
  keep(digests: ReadonlySet<string>): void {
    for (const digest of this.#texts.keys()) if (!digests.has(digest)) this.#texts.delete(digest)
    for (const digest of this.#parsed.keys()) if (!digests.has(digest)) this.#parsed.delete(digest)
  }

  text(digest: string): Buffer {
    const text = this.#texts.get(digest)
    if (text === undefined) throw new PcpError('PM_ERR_LOGREC', `catalogue: part ${digest} is missing`)
    return text
  }

  /** Returns a part. PM_ERR_LOGREC if it is missing. */
  get<T extends MetricsPart | InstancesPart | CataloguePart>(digest: string): T {
    const known = this.#parsed.get(digest)
    if (known !== undefined) return known as T
    const part = JSON.parse(this.text(digest).toString()) as T
    this.#parsed.set(digest, part)
    return part
  }
}

/** Returns the digests of the parts that a catalogue consists of. */
export function partsOf({ metrics, indoms }: CataloguePart): readonly string[] {
  return [metrics, ...indoms.flatMap(([, instances]) => instances ?? [])]
}

function digestOf(text: Buffer): string {
  return createHash('sha1').update(text).digest('base64')
}
