/** Handles through which an application sets its values. docs/how-to/instrument-an-application.md */
import { PcpError } from '../model/errors.ts'
import type { ElapsedCell, NumberCell, TextCell } from './cells.ts'

/** A number that only increases. */
export class Counter {
  readonly #cell: NumberCell

  /** For writers only. */
  constructor(cell: NumberCell) {
    this.#cell = cell
  }

  /** Its value since the writer was created. */
  get value(): number {
    return this.#cell.value
  }

  inc(): void {
    this.#cell.add(1)
  }

  /** Adds an amount. EINVAL below 0 or NaN. */
  add(amount: number): void {
    if (!(amount >= 0)) throw new PcpError('EINVAL', `A counter cannot decrease: add(${amount})`)
    this.#cell.add(amount)
  }

  /** Sets the value to another counter's. Use a bigint beyond 2^53 with a 64-bit integer type. */
  set(value: number | bigint): void {
    setNumber(this.#cell, value)
  }
}

/** A number that goes up and down. It has no value until it is set, unless declared with one. */
export class Gauge {
  readonly #cell: NumberCell

  /** For writers only. */
  constructor(cell: NumberCell) {
    this.#cell = cell
  }

  /** Undefined for no value. */
  get value(): number | undefined {
    const { value } = this.#cell
    return Number.isNaN(value) ? undefined : value
  }

  inc(): void {
    this.#cell.add(1)
  }

  dec(): void {
    this.#cell.add(-1)
  }

  add(amount: number): void {
    this.#cell.add(amount)
  }

  /** Use a bigint beyond 2^53 with a 64-bit integer type; NaN for no value. */
  set(value: number | bigint): void {
    setNumber(this.#cell, value)
  }

  /** Removes the value. */
  clear(): void {
    this.#cell.set(Number.NaN)
  }
}

/** A text of up to 255 bytes; longer ones are cut. */
export class Text {
  readonly #cell: TextCell

  /** For writers only. */
  constructor(cell: TextCell) {
    this.#cell = cell
  }

  /** '' for no value. */
  set(text: string): void {
    this.#cell.set(text)
  }
}

/**
 * Time during which at least one section was open, as a counter in microseconds that also grows during a section.
 * Overlapping sections count once. For individual durations use `Histogram`.
 */
export class Timer {
  readonly #cell: ElapsedCell
  #open = 0

  /** For writers only. */
  constructor(cell: ElapsedCell) {
    this.#cell = cell
  }

  /** Microseconds, including an open section. */
  get elapsedUs(): number {
    return this.#cell.total(nowUs())
  }

  /** Opens a section; call the returned function once to close it. */
  start(): () => void {
    if (this.#open++ === 0) this.#cell.begin(nowUs())
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      if (--this.#open === 0) this.#cell.end(nowUs())
    }
  }

  /** Keeps a section open while the function, or the promise it returns, runs. */
  time<T>(section: () => T): T {
    const end = this.start()
    let isPending = false
    try {
      const result = section()
      if (result instanceof Promise) {
        isPending = true
        result.then(end, end) // handles only this branch: the caller still sees a rejection
      }
      return result
    } finally {
      if (!isPending) end()
    }
  }
}

/** Age of a condition in microseconds, computed by readers, so that it grows even while the process hangs. 0 without a condition. */
export class Age {
  readonly #cell: ElapsedCell

  /** For writers only. */
  constructor(cell: ElapsedCell) {
    this.#cell = cell
  }

  /** Starts the condition, `msAgo` milliseconds ago. */
  since(msAgo = 0): void {
    this.#cell.reset(nowUs() - msAgo * 1000)
  }

  /** Ends the condition. */
  clear(): void {
    this.#cell.reset(undefined)
  }
}

/** Distribution of recorded values over ranges, with their count and sum. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly #count: NumberCell
  readonly #sum: NumberCell
  readonly #buckets: readonly NumberCell[]

  /** For writers only. There is one bucket more than there are bounds. */
  constructor(
    bounds: readonly number[],
    cells: { readonly count: NumberCell; readonly sum: NumberCell; readonly buckets: readonly NumberCell[] },
  ) {
    this.bounds = bounds
    this.#count = cells.count
    this.#sum = cells.sum
    this.#buckets = cells.buckets
  }

  /** Number of recorded values. */
  get count(): number {
    return this.#count.value
  }

  /** Values in each bucket: up to each bound, and above the last. */
  get counts(): readonly number[] {
    return this.#buckets.map(({ value }) => value)
  }

  /** Counts a value in the first bucket whose bound is not below it. NaN is ignored. */
  record(value: number): void {
    if (Number.isNaN(value)) return
    const { bounds } = this
    let i = 0
    while (i < bounds.length && value > bounds[i]!) i++
    this.#buckets[i]!.add(1)
    this.#count.add(1)
    this.#sum.add(value)
  }
}

/** A metric with instances: a handle for each. */
export class PerInstance<Handle> {
  readonly #handles: ReadonlyMap<string, Handle>
  readonly #add: (name: string) => void

  /** For domains only. */
  constructor(handles: ReadonlyMap<string, Handle>, add: (name: string) => void) {
    this.#handles = handles
    this.#add = add
  }

  /** Returns the handle of an instance, adding the instance if needed. Keep the handle: that is cheaper than looking it up. */
  of(name: string): Handle {
    const known = this.#handles.get(name)
    if (known !== undefined) return known
    this.#add(name)
    return this.#handles.get(name)!
  }
}

function setNumber(cell: NumberCell, value: number | bigint): void {
  if (typeof value === 'bigint') cell.setExact(value)
  else cell.set(value)
}

/** Microseconds since the epoch, with a finer resolution than Date.now(). */
function nowUs(): number {
  return (performance.timeOrigin + performance.now()) * 1000
}
