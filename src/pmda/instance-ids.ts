/** Instance numbers that stay with a name while the agent lives. */

/** Gives names the numbers 0, 1, 2... in order of first appearance; a name that comes back has its old number again. */
export class InstanceIds {
  readonly #ids = new Map<string, number>()
  readonly #names: string[] = []

  /** The number of `name`, a new one when it was never seen. */
  idOf(name: string): number {
    let id = this.#ids.get(name)
    if (id === undefined) {
      id = this.#names.push(name) - 1
      this.#ids.set(name, id)
    }
    return id
  }

  /** These names with their numbers: the instances of a domain. */
  list(names: Iterable<string>): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    const listed = [...names]
    return { ids: listed.map((name) => this.idOf(name)), names: listed }
  }

  /** The name of a number given before. */
  nameOf(id: number): string | undefined {
    return this.#names[id]
  }
}
