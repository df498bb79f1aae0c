/** Instance numbers that stay with a name while it is in use. */

/** Names remembered before those not used for long are forgotten; more where more are in use. */
const MOST_NAMES = 10_000
/** Names forgotten even where all of them may be in use: interrupts or control groups by processor are some hundred thousand. */
const MOST_AT_ONCE = 1_048_576
const MAX_INST = 0x7fffffff

/**
 * Gives names the numbers 0, 1, 2... in order of first appearance; a name that comes back has its old number again, unless
 * some ten thousand others were used since it was. No other name has its number then before 2^31 are given out.
 */
export class InstanceIds {
  /** Names used since `#old` was made, and those used before that and not since: the next to forget. */
  #young = new Map<string, number>()
  #old = new Map<string, number>()
  readonly #names = new Map<number, string>()
  #next = 0
  /** How often a name was used since `#old` was made. */
  #uses = 0

  /** Names that are remembered. */
  get size(): number {
    return this.#names.size
  }

  /** The number of `name`, a new one when it is not known. A caller uses all names of a domain before it uses one again. */
  idOf(name: string): number {
    this.#uses++
    const known = this.#young.get(name)
    if (known !== undefined) {
      // All that are there have been used, then: the rest has gone.
      if (this.#young.size >= MOST_NAMES && this.#uses >= 2 * this.#young.size) this.#forget()
      return known
    }
    const id = this.#old.get(name) ?? this.#newId(name)
    this.#old.delete(name)
    this.#young.set(name, id)
    if (this.#young.size >= MOST_AT_ONCE) this.#forget()
    return id
  }

  /** These names with their numbers: the instances of a domain. */
  list(names: Iterable<string>): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    const listed = [...names]
    return { ids: listed.map((name) => this.idOf(name)), names: listed }
  }

  /** The name of a number given before. */
  nameOf(id: number): string | undefined {
    return this.#names.get(id)
  }

  #newId(name: string): number {
    while (this.#names.has(this.#next)) this.#next = this.#next === MAX_INST ? 0 : this.#next + 1
    const id = this.#next
    this.#next = id === MAX_INST ? 0 : id + 1
    this.#names.set(id, name)
    return id
  }

  #forget(): void {
    for (const id of this.#old.values()) this.#names.delete(id)
    this.#old = this.#young
    this.#young = new Map()
    this.#uses = 0
  }
}
