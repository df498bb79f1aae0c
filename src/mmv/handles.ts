/** What an application changes its values with. docs/guide/mmv.md */
import { PcpError } from '../model/errors.ts'
import type { ElapsedCell, NumberCell, TextCell } from './cells.ts'

/** A number that only grows. */
export class Counter {
  readonly #cell: NumberCell

  /** Writers make these. */
  constructor(cell: NumberCell) {
    this.#cell = cell
  }

  /** Since the writer was made. */
  get value(): number {
    return this.#cell.value
  }

  inc(): void {
    this.#cell.add(1)
  }

  /** EINVAL for an amount below 0 or NaN: a counter only grows. */
  add(amount: number): void {
    if (!(amount >= 0)) throw new PcpError('EINVAL', `A counter only grows: it cannot add ${amount}`)
    this.#cell.add(amount)
  }

  /** Takes over what something else has counted. A bigint is for a 64-bit integer type beyond 2^53. */
  set(value: number | bigint): void {
    setNumber(this.#cell, value)
  }
}

/** A number that goes up and down. Without a value until it is set, unless it was declared with one. */
export class Gauge {
  readonly #cell: NumberCell

  /** Writers make these. */
  constructor(cell: NumberCell) {
    this.#cell = cell
  }

  /** Undefined for none. */
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

  /** A bigint is for a 64-bit integer type beyond 2^53; NaN is no value. */
  set(value: number | bigint): void {
    setNumber(this.#cell, value)
  }

  /** There is no value any more. */
  clear(): void {
    this.#cell.set(Number.NaN)
  }
}

/** A text of up to 255 bytes; longer ones are cut. */
export class Text {
  readonly #cell: TextCell

  /** Writers make these. */
  constructor(cell: TextCell) {
    this.#cell = cell
  }

  /** '' is no value. */
  set(text: string): void {
    this.#cell.set(text)
  }
}

/**
 * The time in which something was going on, as a counter in microseconds that runs on meanwhile: sections that overlap
 * count once. For how long each took there is `Histogram`.
 */
export class Timer {
  readonly #cell: ElapsedCell
  #open = 0

  /** Writers make these. */
  constructor(cell: ElapsedCell) {
    this.#cell = cell
  }

  /** Microseconds, up to now where a section is open. */
  get elapsedUs(): number {
    return this.#cell.total(nowUs())
  }

  /** Begins a section; call what it gives at its end, once. */
  start(): () => void {
    if (this.#open++ === 0) this.#cell.begin(nowUs())
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      if (--this.#open === 0) this.#cell.end(nowUs())
    }
  }

  /** The section lasts as long as the function, or the promise that it gives. */
  time<T>(section: () => T): T {
    const end = this.start()
    let isPending = false
    try {
      const result = section()
      if (result instanceof Promise) {
        isPending = true
        result.then(end, end) // only ours: whoever gets the result sees its failure
      }
      return result
    } finally {
      if (!isPending) end()
    }
  }
}

/** How long something has lasted, in microseconds: it grows by itself, also while the process hangs. 0 while nothing lasts. */
export class Age {
  readonly #cell: ElapsedCell

  /** Writers make these. */
  constructor(cell: ElapsedCell) {
    this.#cell = cell
  }

  /** It has lasted for so many milliseconds now. */
  since(msAgo = 0): void {
    this.#cell.reset(nowUs() - msAgo * 1000)
  }

  /** It lasts no longer. */
  clear(): void {
    this.#cell.reset(undefined)
  }
}

/** How often values fell between bounds, how many there were and their sum. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly #count: NumberCell
  readonly #sum: NumberCell
  readonly #buckets: readonly NumberCell[]

  /** Writers make these. There is one bucket more than there are bounds. */
  constructor(
    bounds: readonly number[],
    cells: { readonly count: NumberCell; readonly sum: NumberCell; readonly buckets: readonly NumberCell[] },
  ) {
    this.bounds = bounds
    this.#count = cells.count
    this.#sum = cells.sum
    this.#buckets = cells.buckets
  }

  /** Values recorded so far. */
  get count(): number {
    return this.#count.value
  }

  /** Values in each bucket: up to each bound, and above the last. */
  get counts(): readonly number[] {
    return this.#buckets.map(({ value }) => value)
  }

  /** Counts a value in the first bucket whose bound is not below it. NaN is left out. */
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

/** A metric with instances: one handle for each. */
export class PerInstance<Handle> {
  readonly #handles: ReadonlyMap<string, Handle>
  readonly #add: (name: string) => void

  /** Domains make these. */
  constructor(handles: ReadonlyMap<string, Handle>, add: (name: string) => void) {
    this.#handles = handles
    this.#add = add
  }

  /** The handle of an instance, which is added where it is new. Keep it: that is cheaper than to ask again. */
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

/** Microseconds since the epoch, finer than Date.now(). */
function nowUs(): number {
  return (performance.timeOrigin + performance.now()) * 1000
}
