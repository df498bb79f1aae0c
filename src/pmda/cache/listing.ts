/** Which instances there are now. */

/** Numbers and names of instances, by number. */
export interface Listing {
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

interface Listed {
  readonly id: number
  readonly name: string
  readonly isActive: boolean
}

/** The active ones, `count` of them, of some instances. Names are only put together for those who look at them: fetches do not. */
export function listingOf(entries: readonly Listed[], count: number): Listing {
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
