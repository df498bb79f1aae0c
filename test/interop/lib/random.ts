/** Random choices, reproducible by seed. */

/** A source of random choices. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to before 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns an integer from `low` to `high`, inclusive. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!
  }

  /** Returns the list in random order. */
  shuffled<T>(list: readonly T[]): T[] {
    const rest = [...list]
    return Array.from(list, () => rest.splice(this.int(0, rest.length - 1), 1)[0]!)
  }

  /** Returns true with this probability. */
  chance(share: number): boolean {
    return this.next() < share
  }
}
