/** Chooses the samples of a window from all samples of a series, oldest first. */
import { Goals } from './query/window.ts'
import type { Sample, SampleWindow } from './store.ts'
import type { ValueBudget } from './value-budget.ts'

/** Samples of a window that has a start, finish or interval; the caller offers those between its bounds. */
export class ChosenSamples {
  readonly #most: number
  readonly #goals: Goals | undefined
  readonly #budget: ValueBudget
  readonly #samples: Sample[] = []
  /** The sample that is taken if the next one is after the goal. */
  #waiting: Sample | undefined

  constructor({ samples, interval, start }: SampleWindow, budget: ValueBudget) {
    this.#most = samples ?? Number.POSITIVE_INFINITY
    this.#budget = budget
    if (interval !== undefined && interval > 0)
      this.#goals = new Goals(interval, start === undefined ? undefined : seconds(start))
  }

  /** Offers the next sample; returns whether more are wanted. Errors of the budget. */
  offer(sample: Sample): boolean {
    if (this.#goals === undefined) this.#take(sample)
    else this.#advance(sample)
    return this.#samples.length < this.#most
  }

  /** Returns the samples, after the last one was offered. */
  finish(): readonly Sample[] {
    if (this.#samples.length < this.#most) this.#advance(undefined)
    return this.#samples
  }

  #advance(next: Sample | undefined): void {
    const waiting = this.#waiting
    this.#waiting = next
    if (waiting !== undefined && this.#goals?.takes(seconds(waiting), next && seconds(next)))
      this.#take(waiting)
  }

  #take(sample: Sample): void {
    this.#budget.take(sample.values.length)
    this.#samples.push(sample)
  }
}

function seconds({ sec, nsec }: { readonly sec: number; readonly nsec: number }): number {
  return sec + nsec / 1e9
}
