/** A metric a logger knows: its descriptor, what holds for it, and which of its instances were seen. */
import type { MetricDesc } from '../model/desc.ts'
import { MetricStates } from './states.ts'

/** A metric that is logged, or was, or that somebody wanted to be. */
export class LoggedMetric {
  readonly name: string
  readonly desc: MetricDesc
  readonly states: MetricStates = new MetricStates()
  /** Instances of the last result, in its order. */
  #last: Int32Array | undefined
  /** Those of earlier results. */
  #earlier: Set<number> | undefined

  constructor(name: string, desc: MetricDesc) {
    this.name = name
    this.desc = desc
  }

  /** Takes note of the instances of a result, whose column it keeps. True when they are not those of the result before. */
  seen(inst: Int32Array): boolean {
    const last = this.#last
    if (last !== undefined && isSame(last, inst)) return false
    this.#last = inst
    if (last === undefined) return true
    this.#earlier ??= new Set()
    for (const id of last) this.#earlier.add(id)
    return !isSamePopulation(last, inst)
  }

  /** Had the last result this instance? */
  isAvailable(inst: number): boolean {
    return this.#last?.includes(inst) === true
  }

  /** Is a value of this instance in the archive? */
  isLogged(inst: number): boolean {
    return this.isAvailable(inst) || this.#earlier?.has(inst) === true
  }

  /** Every instance there was. */
  get instances(): ReadonlySet<number> {
    return new Set([...(this.#earlier ?? []), ...(this.#last ?? [])])
  }
}

function isSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function isSamePopulation(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  return isSame(a.slice().sort(), b.slice().sort())
}
