/** Lists of the current instances. */

/** Identifiers and names of instances, by identifier. */
export interface InstanceList {
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

interface Listed {
  readonly id: number
  readonly name: string
  readonly isActive: boolean
}

/** Lists the `count` active ones of `entries`. Names are collected on first use, because fetches do not need them. */
export function listActive(entries: readonly Listed[], count: number): InstanceList {
  const active = count === entries.length ? entries.slice() : entries.filter(({ isActive }) => isActive)
  let names: string[] | undefined
  return {
    ids: active.map(({ id }) => id),
    get names() {
      names ??= active.map(({ name }) => name)
      return names
    },
  }
}
