/** A metric known to a logger: its descriptor, its logging state, and the instances already recorded. */
import type { MetricDesc } from '../model/desc.ts'
import { MetricStates } from './states.ts'

/** Limit of tasks whose last result is kept per metric; pmlc can create any number of tasks over time. */
const MAX_COLUMNS = 4
/** Limit of instances kept from earlier results: domains of processes get new ones all the time. */
const MAX_EARLIER = 1000

/** A metric's instances in a task's last result. */
interface TaskInstances {
  readonly task: string
  readonly inst: Int32Array
  /** Requested instances; undefined for all. */
  readonly wanted: ReadonlySet<number> | undefined
}

/** A metric that is or was logged, or that a request named. */
export class LoggedMetric {
  readonly name: string
  readonly desc: MetricDesc
  readonly states: MetricStates = new MetricStates()
  /** Last result of each task, most recent first. */
  readonly #columns: TaskInstances[] = []
  /** Instances of earlier results, most recent last. */
  #earlier: Set<number> | undefined

  constructor(name: string, desc: MetricDesc) {
    this.name = name
    this.desc = desc
  }

  /**
   * Compares the instances in a task's result with those of its previous result; `wanted` holds the requested instances unless all
   * were requested. `same`: `seen` would change nothing; `moved`: same instances in another order, or after results of other tasks.
   */
  compare(task: string, inst: Int32Array, wanted?: ReadonlySet<number>): 'same' | 'moved' | 'changed' {
    const at = this.#columns.findIndex((column) => column.task === task)
    const last = this.#columns[at]
    if (at === 0 && last!.wanted === wanted && isSame(last!.inst, inst)) return 'same'
    return last === undefined || !isSamePopulation(last.inst, inst) ? 'changed' : 'moved'
  }

  /** Records the instances of a written result. Arguments as for `compare`; keeps `inst`. */
  seen(task: string, inst: Int32Array, wanted?: ReadonlySet<number>): void {
    const at = this.#columns.findIndex((column) => column.task === task)
    const last = this.#columns[at]
    if (last !== undefined) this.#columns.splice(at, 1)
    this.#columns.unshift({ task, inst, wanted })
    if (last !== undefined) this.#keep(last)
    if (this.#columns.length > MAX_COLUMNS) this.#keep(this.#columns.pop()!)
  }

  /** Whether a result has been written. */
  get hasResult(): boolean {
    return this.#columns.length > 0
  }

  /** Returns whether the last result that included this instance had a value for it. */
  isAvailable(inst: number): boolean {
    const column = this.#columns.find(({ wanted }) => wanted === undefined || wanted.has(inst))
    return column === undefined ? this.isLogged(inst) : column.inst.includes(inst)
  }

  /** Returns whether the archive has a value of this instance, as far as remembered. */
  isLogged(inst: number): boolean {
    return this.#columns.some((column) => column.inst.includes(inst)) || this.#earlier?.has(inst) === true
  }

  /** Instances recorded so far, at least the latest thousand. */
  get instances(): ReadonlySet<number> {
    return new Set([...(this.#earlier ?? []), ...this.#columns.flatMap(({ inst }) => [...inst])])
  }

  #keep({ inst }: TaskInstances): void {
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
