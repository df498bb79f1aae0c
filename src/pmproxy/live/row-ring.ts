/** The newest rows of a topic, for pages that are reloaded. docs/reference/pmproxy.md */

/** Bytes of all rings of a server. */
export interface RingBudget {
  bytes: number
}

interface KeptRow {
  readonly row: Buffer
  /** Messages with the instances of each metric at that time; rows share them. */
  readonly instances: readonly (Buffer | undefined)[]
  readonly bytes: number
}

/** Most bytes and rows of a ring, and bytes of all rings. */
export const MOST_RING_BYTES: number = 1024 * 1024
export const MOST_RING_ROWS = 900
const MOST_OF_ALL = 32 * 1024 * 1024

/** Keeps rows within its own bounds and a bound that all rings share. */
export class RowRing {
  readonly #budget: RingBudget
  #rows: KeptRow[] = []
  #bytes = 0
  #message: Buffer | undefined

  constructor(budget: RingBudget) {
    this.#budget = budget
  }

  /** Adds the newest row, with the current messages about instances. */
  add(row: Buffer, instances: readonly (Buffer | undefined)[]): void {
    this.#message = undefined
    const before = this.#rows.at(-1)?.instances ?? []
    let bytes = row.length
    for (const [m, text] of instances.entries()) if (text !== before[m]) bytes += text?.length ?? 0
    this.#rows.push({ row, instances, bytes })
    this.#count(bytes)
    let first = 0
    while (
      first < this.#rows.length &&
      (this.#bytes > MOST_RING_BYTES ||
        this.#rows.length - first > MOST_RING_ROWS ||
        this.#budget.bytes > MOST_OF_ALL)
    )
      this.#count(-this.#rows[first++]!.bytes)
    if (first > 0) this.#rows = this.#rows.slice(first)
  }

  get hasRows(): boolean {
    return this.#rows.length > 0
  }

  /** Returns one message with all rows, and instances before the first row that refers to them; undefined without rows. */
  message(topic: number): Buffer | undefined {
    if (this.#rows.length === 0) return undefined
    this.#message ??= this.#encode(topic)
    return this.#message
  }

  #encode(topic: number): Buffer {
    const comma = Buffer.from(',')
    const parts: Buffer[] = [Buffer.from(`{"type":"past","topic":${topic},"messages":[`)]
    let told: readonly (Buffer | undefined)[] = []
    for (const [i, { row, instances }] of this.#rows.entries()) {
      for (const [m, text] of instances.entries())
        if (text !== undefined && text !== told[m]) parts.push(text, comma)
      told = instances
      parts.push(row)
      if (i < this.#rows.length - 1) parts.push(comma)
    }
    parts.push(Buffer.from(']}'))
    return Buffer.concat(parts)
  }

  /** Drops all rows; the metrics have changed, or no page wants them any longer. */
  clear(): void {
    this.#count(-this.#bytes)
    this.#rows = []
    this.#message = undefined
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#budget.bytes += bytes
  }
}
