/** The order of names in a name space, which tools show when they list metrics. */

/** A node of names: its children by their last part, in order of first appearance. */
interface Node<T> {
  readonly children: Map<string, Node<T>>
  value?: T
}

/**
 * The same named values, with the children of each node in the order that `order` gives for it (names with blanks
 * between them, '' for the root); children it does not name follow in the order they had.
 */
export function inOrder<T>(
  values: { readonly [name: string]: T },
  order: { readonly [node: string]: string },
): { [name: string]: T } {
  const root: Node<T> = { children: new Map() }
  for (const name in values) {
    let node = root
    for (const part of name.split('.')) {
      let child = node.children.get(part)
      if (child === undefined) {
        child = { children: new Map() }
        node.children.set(part, child)
      }
      node = child
    }
    node.value = values[name]!
  }
  const sorted: { [name: string]: T } = {}
  const visit = (node: Node<T>, name: string): void => {
    if (node.value !== undefined) sorted[name] = node.value
    for (const [part, child] of sortedChildren(node, order[name]))
      visit(child, name === '' ? part : `${name}.${part}`)
  }
  visit(root, '')
  return sorted
}

function sortedChildren<T>({ children }: Node<T>, order: string | undefined): Iterable<[string, Node<T>]> {
  if (order === undefined) return children
  const ranks = new Map(
    order
      .trim()
      .split(/\s+/)
      .map((part, rank) => [part, rank]),
  )
  const rank = (part: string): number => ranks.get(part) ?? ranks.size
  return [...children].sort(([a], [b]) => rank(a) - rank(b))
}
