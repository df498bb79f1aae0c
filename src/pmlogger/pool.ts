/** What many loggers of one process have in common: names and descriptors are kept once. */
import type { MetricDesc } from '../model/desc.ts'

/** Things of a kind remembered; where there are more, all are forgotten, and equal ones may be kept twice. */
const MOST = 100_000

/** Gives back the first of equal things. */
export class Pool {
  readonly #texts = new Map<string, string>()
  readonly #descs = new Map<string, MetricDesc>()

  /** The text that was equal to this one first. */
  text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    if (this.#texts.size >= MOST) this.#texts.clear()
    this.#texts.set(text, text)
    return text
  }

  /** The descriptor that was equal to this one first. */
  desc(desc: MetricDesc): MetricDesc {
    const key = `${desc.pmid} ${desc.type} ${desc.indom} ${desc.sem} ${desc.units}`
    const known = this.#descs.get(key)
    if (known !== undefined) return known
    if (this.#descs.size >= MOST) this.#descs.clear()
    this.#descs.set(key, desc)
    return desc
  }
}
