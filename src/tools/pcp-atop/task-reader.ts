/** Reads metrics of processes from a sample. */
import type { Sample } from '../lib/sampled/metrics.ts'
import type { TaskGroup } from './task.ts'

/** Metrics of one sample, by short name. */
export class TaskReader {
  readonly #sample: Sample
  readonly #group: TaskGroup
  readonly #texts = new Map<string, ReadonlyMap<number, string>>()

  constructor(sample: Sample, group: TaskGroup) {
    this.#sample = sample
    this.#group = group
  }

  has(pid: number): boolean {
    return this.#sample.numbers(`${this.#group}.psinfo.pid`).has(pid)
  }

  number(item: string, pid: number): number {
    return this.#sample.number(`${this.#group}.${item}`, pid) ?? 0
  }

  optional(item: string, pid: number): number | undefined {
    return this.#sample.number(`${this.#group}.${item}`, pid)
  }

  /** Returns a number of a metric of another group. */
  other(name: string, pid: number): number | undefined {
    return this.#sample.number(name, pid)
  }

  text(item: string, pid: number): string | undefined {
    const metric = `${this.#group}.${item}`
    let texts = this.#texts.get(metric)
    if (texts === undefined) {
      texts = this.#sample.texts(metric)
      this.#texts.set(metric, texts)
    }
    return texts.get(pid)
  }
}
