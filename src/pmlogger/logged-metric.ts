/** A metric a logger knows: its descriptor, what holds for it, and which of its instances were seen. */
import type { MetricDesc } from '../model/desc.ts'
import { MetricStates } from './states.ts'

/** Tasks of a metric whose last result is kept; pmlc can make any number of them, one after the other. */
const MAX_COLUMNS = 4
/** Instances of earlier results that are kept: domains of processes have new ones all the time. */
const MAX_EARLIER = 1000

/** What a task had of a metric the last time. */
interface Column {
  readonly task: string
  readonly inst: Int32Array
  /** Instances it asked for; undefined for all. */
  readonly wanted: ReadonlySet<number> | undefined
}

/** A metric that is logged, or was, or that somebody wanted to be. */
export class LoggedMetric {
  readonly name: string
  readonly desc: MetricDesc
  readonly states: MetricStates = new MetricStates()
  /** Last result of each task, the latest first. */
  readonly #columns: Column[] = []
  /** Instances of results before those, the latest last. */
  #earlier: Set<number> | undefined

  constructor(name: string, desc: MetricDesc) {
    this.name = name
    this.desc = desc
  }

  /**
   * Compares the instances in a result of a task, which asked for `wanted` where that is not all, with those of its result before.
   * `same`: `seen` would change nothing; `moved`: the same instances in another order, or after other tasks had results.
   */
  compare(task: string, inst: Int32Array, wanted?: ReadonlySet<number>): 'same' | 'moved' | 'changed' {
    const at = this.#columns.findIndex((column) => column.task === task)
    const last = this.#columns[at]
    if (at === 0 && last!.wanted === wanted && isSame(last!.inst, inst)) return 'same'
    return last === undefined || !isSamePopulation(last.inst, inst) ? 'changed' : 'moved'
  }

  /** Takes note of the instances in a result of a task that has been written, whose column it keeps. Arguments as `compare`. */
  seen(task: string, inst: Int32Array, wanted?: ReadonlySet<number>): void {
    const at = this.#columns.findIndex((column) => column.task === task)
    const last = this.#columns[at]
    if (last !== undefined) this.#columns.splice(at, 1)
    this.#columns.unshift({ task, inst, wanted })
    if (last !== undefined) this.#keep(last)
    if (this.#columns.length > MAX_COLUMNS) this.#keep(this.#columns.pop()!)
  }

  /** Has a result been written? */
  get hasResult(): boolean {
    return this.#columns.length > 0
  }

  /** Had the last result that could have this instance a value of it? */
  isAvailable(inst: number): boolean {
    const column = this.#columns.find(({ wanted }) => wanted === undefined || wanted.has(inst))
    return column === undefined ? this.isLogged(inst) : column.inst.includes(inst)
  }

  /** Is a value of this instance in the archive, as far as is remembered? */
  isLogged(inst: number): boolean {
    return this.#columns.some((column) => column.inst.includes(inst)) || this.#earlier?.has(inst) === true
  }

  /** The instances that there were, the latest thousand at least. */
  get instances(): ReadonlySet<number> {
    return new Set([...(this.#earlier ?? []), ...this.#columns.flatMap(({ inst }) => [...inst])])
  }

  #keep({ inst }: Column): void {
    const earlier = this.#earlier ?? new Set<number>()
    this.#earlier = earlier
    for (const id of inst) {
      earlier.delete(id)
      earlier.add(id)
    }
    for (const oldest of earlier) {
      if (earlier.size <= MAX_EARLIER) break
      earlier.delete(oldest)
    }
  }
}

function isSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function isSamePopulation(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false
  return isSame(a, b) || isSame(a.slice().sort(), b.slice().sort())
}
