/** Interns names and descriptors shared by the loggers of a process. */
import type { MetricDesc } from '../model/desc.ts'

/** Limit per kind. At the limit the pool is cleared; equal items may then be kept twice. */
const MOST = 100_000

export class InternPool {
  readonly #texts = new Map<string, string>()
  readonly #descs = new Map<string, MetricDesc>()

  /** Returns the first equal text. */
  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    if (this.#texts.size >= MOST) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }

  /** Returns the first equal descriptor. */
  desc(desc: MetricDesc): MetricDesc {
    const key = `${desc.pmid} ${desc.type} ${desc.indom} ${desc.sem} ${desc.units}`
    const known = this.#descs.get(key)
    if (known !== undefined) return known
    if (this.#descs.size >= MOST) this.#descs.clear()
    this.#descs.set(key, desc)
    return desc
  }
}
