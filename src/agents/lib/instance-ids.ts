/** Instance identifiers that stay with a name while it is in use. */

/** Names remembered before unused ones are forgotten; more if more are in use. */
const MOST_NAMES = 10_000
/** Hard limit, even if all names are in use: interrupts or control groups by CPU are a few hundred thousand. */
const MOST_AT_ONCE = 1_048_576
const MAX_INST = 0x7fffffff

/**
 * Assigns 0, 1, 2... to names in order of first use. A name that returns keeps its identifier unless about ten thousand
 * others were used since. Identifiers are not reused before all 2^31 were assigned.
 */
export class InstanceIds {
  /** Names used since `#old` was replaced, and names last used before that, which are forgotten next. */
  #young = new Map<string, number>()
  #old = new Map<string, number>()
  readonly #names = new Map<number, string>()
  #next = 0
  /** Uses of names since `#old` was replaced. */
  #uses = 0

  /** Number of names remembered. */
  get size(): number {
    return this.#names.size
  }

  /** Returns the identifier of `name`, assigning one if needed. Callers use all names of a domain before using one again. */
  idOf(name: string): number {
    this.#uses++
    const known = this.#young.get(name)
    if (known !== undefined) {
      // All current names have been used, so the rest are gone.
      if (this.#young.size >= MOST_NAMES && this.#uses >= 2 * this.#young.size) this.#forget()
      return known
    }
    const id = this.#old.get(name) ?? this.#newId(name)
    this.#old.delete(name)
    this.#young.set(name, id)
    if (this.#young.size >= MOST_AT_ONCE) this.#forget()
    return id
  }

  /** Returns names with their identifiers: the instances of a domain. */
  list(names: Iterable<string>): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    const listed = [...names]
    return { ids: listed.map((name) => this.idOf(name)), names: listed }
  }

  /** Returns the name of an identifier. */
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
