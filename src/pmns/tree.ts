/** The performance metrics name space: a tree of names whose leaves carry PMIDs. docs/formats/pmns.md §1 */
import { PcpError } from '../model/errors.ts'
import {
  clusterOf,
  DOMAIN_RESERVED,
  domainOf,
  isDynamicRoot,
  itemOf,
  PM_ID_NULL,
  type Pmid,
  pmidStr,
} from '../model/ids.ts'
import type { Child } from '../model/source.ts'

/** One component of a name. A leaf has an id, a non-leaf has children, an empty non-leaf has neither. */
interface Node {
  readonly name: string
  readonly parent: Node | undefined
  /** Place among its siblings, for ordering names without a traversal. */
  readonly place: number
  id: Pmid | undefined
  children: Map<string, Node> | undefined
  /** Leaves at or below this node: a node without any is invisible. */
  leaves: number
}

/**
 * A name space. Children keep the order in which they were added, several names may share a PMID, and a non-leaf
 * without leaves is invisible. A leaf whose id is a dynamic root (`D.*.*`) delegates the names below it to the agent
 * of domain D: `lookup` answers with the root's id for those, and whoever can ask that agent does so.
 */
export class Pmns {
  readonly #root: Node = makeNode('', undefined, 0)
  /** Nodes by id, made when first asked for: those who only edit a name space never ask. */
  #byId: Map<Pmid, Node | Node[]> | undefined

  /** How many names there are; a dynamic root counts as one. */
  get size(): number {
    return this.#root.leaves
  }

  /**
   * Adds a leaf and the non-leaves it needs. Adding the same name with the same id again changes nothing. PM_ERR_NAME
   * for an empty component, PM_ERR_PMID for the null identifier, PM_ERR_PMNS when the name has another id already or
   * one name would be both leaf and non-leaf.
   */
  add(name: string, id: Pmid): void {
    this.#put(this.#grow(name), id)
  }

  /** As `add` of each entry with an id, below the non-leaf `path` (`''` is the root); names are single components. */
  addBelow(
    path: string,
    entries: readonly { readonly name: string; readonly id: Pmid | undefined }[],
    from = 0,
    to: number = entries.length,
  ): void {
    let parent: Node | undefined
    for (let i = from; i < to; i++) {
      const { name, id } = entries[i]!
      if (id === undefined) continue
      parent ??= path === '' ? this.#root : this.#grow(path)
      this.#put(childOf(parent, name), id)
    }
  }

  /** Makes a node a leaf. */
  #put(node: Node, id: Pmid): void {
    if (id === PM_ID_NULL)
      throw new PcpError('PM_ERR_PMID', `Name "${fullName(node)}" needs a PMID, not PM_ID_NULL`)
    if (node.id === id) return
    if (node.id !== undefined)
      throw new PcpError(
        'PM_ERR_PMNS',
        `Duplicate name "${fullName(node)}": it is ${pmidStr(node.id)} and cannot be ${pmidStr(id)} too`,
      )
    if (node.leaves > 0)
      throw new PcpError('PM_ERR_PMNS', `Name "${fullName(node)}" has names below it and cannot have a PMID`)
    node.id = id
    for (let up: Node | undefined = node; up !== undefined; up = up.parent) up.leaves++
    if (this.#byId !== undefined) addTo(this.#byId, id, node)
  }

  #index(): ReadonlyMap<Pmid, Node | Node[]> {
    if (this.#byId === undefined) {
      this.#byId = new Map()
      indexNode(this.#root, this.#byId)
    }
    return this.#byId
  }

  /**
   * Removes a leaf, or every leaf below a non-leaf; false when there is no such name. A non-leaf left empty can no
   * longer be seen, but keeps its place for names added later. @see pmnsdel(1)
   */
  remove(name: string): boolean {
    const node = this.#exact(name)
    if (node === undefined) return false
    const gone = node.leaves
    for (let up = node.parent; up !== undefined; up = up.parent) up.leaves -= gone
    this.#forget(node)
    return true
  }

  /**
   * Id of exactly this name: PM_ID_NULL for a non-leaf, undefined for what cannot be seen. Unlike `lookup`, a dynamic
   * root answers for itself alone.
   */
  idOf(name: string): Pmid | undefined {
    const node = this.#exact(name)
    return node === undefined ? undefined : (node.id ?? PM_ID_NULL)
  }

  /**
   * Id of a leaf, or of the dynamic root at or above the name. PM_ERR_NAME, PM_ERR_NONLEAF are data: look-ups of many
   * names fail one by one. @see pmLookupName(3)
   */
  lookup(name: string): Pmid | PcpError {
    const found = this.#find(name)
    if (found === undefined || found === this.#root || found.leaves === 0) return unknown(name)
    return found.id ?? new PcpError('PM_ERR_NONLEAF', `Metric name is not a leaf in PMNS: "${name}"`)
  }

  /** Does the name belong to a visible node, leaf or not? The root `''` always does. */
  has(name: string): boolean {
    return this.#visible(name) !== undefined
  }

  /**
   * Children of a node in file order, none for a leaf. A dynamic root is listed as a non-leaf, but its own children are
   * the agent's to tell. PM_ERR_NAME. @see pmGetChildrenStatus(3)
   */
  children(name: string): Child[] {
    const node = this.#visible(name)
    if (node === undefined) throw unknown(name)
    const list: Child[] = []
    for (const child of node.children?.values() ?? []) {
      if (child.leaves > 0)
        list.push({ name: child.name, isLeaf: child.id !== undefined && !isDynamicRoot(child.id) })
    }
    return list
  }

  /** Full names of all leaves below a node, depth first; a leaf gives itself. PM_ERR_NAME. @see pmTraversePMNS(3) */
  traverse(name = ''): string[] {
    const names: string[] = []
    this.walk(name, (leaf) => names.push(leaf))
    return names
  }

  /** Calls `visit` with each leaf at or below a node, depth first. PM_ERR_NAME. */
  walk(name: string, visit: (name: string, id: Pmid) => void): void {
    const node = this.#visible(name)
    if (node === undefined) throw unknown(name)
    walkNode(node, name, visit)
  }

  /**
   * All names of an id: the last in traversal order comes first, as in PCP. None for unknown ids and for dynamic roots.
   * @see pmNameAll(3)
   */
  namesOf(id: Pmid): string[] {
    if (isDynamicRoot(id)) return []
    const nodes = this.#index().get(id)
    if (nodes === undefined) return []
    if (!Array.isArray(nodes)) return [fullName(nodes)]
    return [...nodes].sort((a, b) => comparePlaces(b, a)).map(fullName)
  }

  /** Names of the dynamic roots of a domain, in traversal order. */
  dynamicRoots(domain: number): string[] {
    const names: string[] = []
    for (const [id, nodes] of this.#index()) {
      if (isDynamicRoot(id) && clusterOf(id) === domain) names.push(...[nodes].flat().map(fullName))
    }
    return names
  }

  /** A name space with only the leaves whose id `keep` accepts. @see pmTrimNameSpace(3) */
  trim(keep: (id: Pmid) => boolean): Pmns {
    const trimmed = new Pmns()
    this.walk('', (name, id) => {
      if (keep(id)) trimmed.add(name, id)
    })
    return trimmed
  }

  /** The canonical text form, which `parsePmns` reads back: groups depth first, `root` first. docs/formats/pmns.md §2 */
  toString(): string {
    const groups: string[] = []
    writeGroup(this.#root, 'root', groups)
    return groups.join('\n')
  }

  /** The node of a name, making it and what is missing above it. */
  #grow(name: string): Node {
    let node = this.#root
    for (let start = 0; start <= name.length; ) {
      const dot = name.indexOf('.', start)
      const end = dot === -1 ? name.length : dot
      if (end === start)
        throw new PcpError('PM_ERR_NAME', `Metric name "${name}" has an empty part: write it as "a.b.c"`)
      node = childOf(node, name.slice(start, end))
      start = end + 1
    }
    return node
  }

  /** The node of a name, or the dynamic root above it. */
  #find(name: string): Node | undefined {
    let node = this.#root
    if (name === '') return node
    for (let start = 0; ; ) {
      const dot = name.indexOf('.', start)
      const end = dot === -1 ? name.length : dot
      const child = node.children?.get(name.slice(start, end))
      if (child === undefined) return node.id !== undefined && isDynamicRoot(node.id) ? node : undefined
      if (dot === -1) return child
      node = child
      start = dot + 1
    }
  }

  /** The node of exactly this name other than the root, when it can be seen. */
  #exact(name: string): Node | undefined {
    let node = this.#root
    for (let start = 0; start <= name.length; ) {
      const dot = name.indexOf('.', start)
      const end = dot === -1 ? name.length : dot
      const child = node.children?.get(name.slice(start, end))
      if (child === undefined || child.leaves === 0) return undefined
      node = child
      start = end + 1
    }
    return node
  }

  /** Takes the ids off all leaves at and below a node. */
  #forget(node: Node): void {
    node.leaves = 0
    for (const child of node.children?.values() ?? []) this.#forget(child)
    const { id } = node
    if (id === undefined) return
    node.id = undefined
    const same = this.#byId?.get(id)
    if (!Array.isArray(same) || same.length === 1) this.#byId?.delete(id)
    else same.splice(same.indexOf(node), 1)
  }

  /** The node of a name, or nothing where only a dynamic root above it answers; `''` is the root. */
  #visible(name: string): Node | undefined {
    const node = this.#find(name)
    if (node === undefined || node === this.#root) return node
    return node.leaves > 0 && fullName(node) === name ? node : undefined
  }
}

function makeNode(name: string, parent: Node | undefined, place: number): Node {
  return { name, parent, place, id: undefined, children: undefined, leaves: 0 }
}

function addTo(index: Map<Pmid, Node | Node[]>, id: Pmid, node: Node): void {
  const same = index.get(id)
  // Most ids have one name, which then needs no list.
  if (same === undefined) index.set(id, node)
  else if (Array.isArray(same)) same.push(node)
  else index.set(id, [same, node])
}

function indexNode(node: Node, index: Map<Pmid, Node | Node[]>): void {
  if (node.id !== undefined) addTo(index, node.id, node)
  for (const child of node.children?.values() ?? []) indexNode(child, index)
}

/** The child of that name, made when it is missing. */
function childOf(parent: Node, name: string): Node {
  if (parent.id !== undefined) {
    const full = `${fullName(parent)}.${name}`
    throw new PcpError('PM_ERR_PMNS', `Name "${full}" lies below "${fullName(parent)}", which is a metric`)
  }
  parent.children ??= new Map()
  let child = parent.children.get(name)
  if (child === undefined) {
    child = makeNode(name, parent, parent.children.size)
    parent.children.set(name, child)
  }
  return child
}

function unknown(name: string): PcpError {
  return new PcpError('PM_ERR_NAME', `Unknown metric name: "${name}"`)
}

function fullName(node: Node): string {
  let name = node.name
  for (let up = node.parent; up?.parent !== undefined; up = up.parent) name = `${up.name}.${name}`
  return name
}

function walkNode(node: Node, name: string, visit: (name: string, id: Pmid) => void): void {
  if (node.id !== undefined) {
    visit(name, node.id)
    return
  }
  const prefix = name === '' ? '' : `${name}.`
  for (const child of node.children?.values() ?? []) walkNode(child, prefix + child.name, visit)
}

/** Traversal order of two nodes, found by the places along their paths. */
function comparePlaces(a: Node, b: Node): number {
  const left = places(a)
  const right = places(b)
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return left[i]! - right[i]!
  }
  return left.length - right.length
}

function places(node: Node): number[] {
  const path: number[] = []
  for (let up: Node | undefined = node; up !== undefined; up = up.parent) path.unshift(up.place)
  return path
}

/** Appends the group of a non-leaf and those of the non-leaves below it. */
function writeGroup(node: Node, path: string, groups: string[]): void {
  const below: Node[] = []
  let text = `${path} {\n`
  // Neighbours mostly differ in the item alone; putting their ids together anew takes half the time of writing.
  let [high, prefix] = [-1, '']
  for (const child of node.children?.values() ?? []) {
    const { id } = child
    if (child.leaves === 0) continue
    if (id === undefined) {
      below.push(child)
      text += `\t${child.name}\n`
    } else if (domainOf(id) === DOMAIN_RESERVED) {
      text += `\t${child.name}\t${dynamicId(id)}\n`
    } else {
      const item = itemOf(id)
      if (id - item !== high) prefix = `\t${domainOf(id)}:${clusterOf(id)}:`
      high = id - item
      text += `\t${child.name}${prefix}${item}\n`
    }
  }
  groups.push(`${text}}\n`)
  for (const child of below)
    writeGroup(child, node.parent === undefined ? child.name : `${path}.${child.name}`, groups)
}

/** A dynamic root as files write it: `29:*:*`. */
function dynamicId(id: Pmid): string {
  if (isDynamicRoot(id)) return `${clusterOf(id)}:*:*`
  throw new PcpError('PM_ERR_PMID', `PMID ${pmidStr(id)} is reserved and cannot be written to a file`)
}
