/** The order of names in a name space, which tools show when they list metrics. */

/**
 * The same named values in the order of `order`: a line for each run of names with one parent, `disk.dev: read write`.
 * What it does not name follows as it came, and so last among the names of its parent; names without value are passed
 * over.
 */
export function inOrder<T>(values: { readonly [name: string]: T }, order: string): { [name: string]: T } {
  const sorted: { [name: string]: T } = Object.create(null)
  let parent = ''
  for (const word of order.trim().split(/\s+/)) {
    if (word.endsWith(':')) {
      parent = word.slice(0, -1)
      continue
    }
    const name = `${parent}.${word}`
    const value = values[name]
    if (value !== undefined) sorted[name] = value
  }
  for (const name in values) sorted[name] ??= values[name]!
  return sorted
}
