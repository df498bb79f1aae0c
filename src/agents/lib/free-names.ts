/** Names of metrics that somebody else chose: which of them can stand in one name space. docs/agents.md */

/** Names of which none is a part of another, as metrics and groups of metrics must be. */
export class FreeNames {
  readonly #leaves = new Set<string>()
  readonly #groups = new Set<string>()

  /** Takes names all together; false when any has no place, and then none is taken. */
  add(...names: readonly string[]): boolean {
    if (names.some((name) => !this.#isFree(name))) return false
    for (const name of names) {
      this.#leaves.add(name)
      for (const group of groupsOf(name)) this.#groups.add(group)
    }
    return true
  }

  #isFree(name: string): boolean {
    if (this.#leaves.has(name) || this.#groups.has(name)) return false
    return !groupsOf(name).some((group) => this.#leaves.has(group))
  }
}

/** The groups above a name. */
function groupsOf(name: string): readonly string[] {
  const groups: string[] = []
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
    groups.push(name.slice(0, dot))
  return groups
}
