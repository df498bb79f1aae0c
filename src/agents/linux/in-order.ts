/** The order of names in a name space, which tools show when they list metrics. */

/** A node of names: its children by their last part, in order of first appearance. */
interface Node<T> {
  /** Full name. A leaf keeps the string it came with: joining parts anew for a thousand names takes milliseconds. */
  readonly name: string
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
  const root: Node<T> = { name: '', children: new Map() }
  for (const name in values) leafOf(root, name).value = values[name]!
  const sorted: { [name: string]: T } = {}
  const visit = (node: Node<T>): void => {
    if (node.value !== undefined) sorted[node.name] = node.value
    for (const child of childrenOf(node, order[node.name])) visit(child)
  }
  visit(root)
  return sorted
}

function leafOf<T>(root: Node<T>, name: string): Node<T> {
  let node = root
  for (let start = 0; start <= name.length; ) {
    const dot = name.indexOf('.', start)
    const end = dot < 0 ? name.length : dot
    const part = name.slice(start, end)
    let child = node.children.get(part)
    if (child === undefined) {
      child = { name: dot < 0 ? name : name.slice(0, end), children: new Map() }
      node.children.set(part, child)
    }
    node = child
    start = end + 1
  }
  return node
}

function childrenOf<T>({ children }: Node<T>, order: string | undefined): Iterable<Node<T>> {
  if (order === undefined) return children.values()
  const ranks = new Map(
    order
      .trim()
      .split(/\s+/)
      .map((part, rank) => [part, rank]),
  )
  const rank = (part: string): number => ranks.get(part) ?? ranks.size
  return [...children].sort(([a], [b]) => rank(a) - rank(b)).map(([, child]) => child)
}
