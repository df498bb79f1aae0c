/** The performance metrics name space: a tree of names with PMIDs at its leaves. docs/formats/pmns.md §1 */
import { PcpError } from '../model/errors.ts'
import {
  clusterOf,
  DOMAIN_RESERVED,
  domainOf,
  dynamicRoot,
  isDynamicRoot,
  itemOf,
  PM_ID_NULL,
  type Pmid,
  pmidStr,
} from '../model/ids.ts'
import type { Child } from '../model/source.ts'

/** Children of one node in columns: an object for each would take as long as parsing. */
export interface Entries {
  /** Single components. */
  readonly names: readonly string[]
  /** PM_ID_NULL for non-leaves. */
  readonly ids: readonly Pmid[]
}

/** A non-leaf. It may be empty. */
interface Group {
  readonly name: string
  readonly parent: Group | undefined
  /** Leaves are stored as their ids: most nodes are leaves, and a hundred thousand objects take time to make. */
  readonly children: Map<string, Group | Pmid>
  /** Number of leaves below; a group without any is invisible. */
  leaves: number
}

/**
 * A name space. Children keep the order in which they were added, several names may share a PMID, and a non-leaf
 * without leaves is invisible. A leaf whose id is a dynamic root (`D.*.*`) delegates the names below it to the agent
 * of domain D: `lookup` returns the root's id for those, and callers with access to the agent forward the request.
 */
export class Pmns {
  readonly #root: Group = makeGroup('', undefined)
  /** Full names by id in traversal order, built on demand: programs that only edit a name space do not need them. */
  #names: Map<Pmid, string | string[]> | undefined

  /** Number of names; a dynamic root counts as one. */
  get size(): number {
    return this.#root.leaves
  }

  /**
   * Adds a leaf and the non-leaves above it. Adding the same name with the same id again has no effect. PM_ERR_NAME
   * for an empty component, PM_ERR_PMID for the null identifier, PM_ERR_PMNS if the name has another id already or
   * would be both leaf and non-leaf.
   */
  add(name: string, id: Pmid): void {
    const dot = name.lastIndexOf('.')
    this.#put(dot === -1 ? this.#root : this.#grow(name.slice(0, dot)), name.slice(dot + 1), id)
  }

  /** Adds the leaves in `entries[from, to)` below the non-leaf `path`, as `add` does; `''` is the root. */
  addBelow(path: string, { names, ids }: Entries, from = 0, to: number = names.length): void {
    let group: Group | undefined
    for (let i = from; i < to; i++) {
      const id = ids[i]!
      if (id === PM_ID_NULL) continue
      group ??= path === '' ? this.#root : this.#grow(path)
      this.#put(group, names[i]!, id)
    }
  }

  /** Sets a leaf. */
  #put(group: Group, name: string, id: Pmid): void {
    const old = group.children.get(name)
    if (old === id) return
    if (name === '' || id === PM_ID_NULL || (old !== undefined && !isEmpty(old)))
      throw refusal(fullName(group, name), id, old)
    group.children.set(name, id)
    for (let up: Group | undefined = group; up !== undefined; up = up.parent) up.leaves++
    this.#names = undefined
  }

  /**
   * Removes a leaf, or all leaves below a non-leaf; returns false for an unknown name. Emptied non-leaves become invisible but
   * keep their position for names added later. @see pmnsdel(1)
   */
  remove(name: string): boolean {
    const id = this.idOf(name)
    if (id === undefined) return false
    const dot = name.lastIndexOf('.')
    const group = this.#group(dot === -1 ? '' : name.slice(0, dot))!
    const part = name.slice(dot + 1)
    const old = group.children.get(part)!
    const gone = typeof old === 'number' ? 1 : old.leaves
    group.children.set(part, makeGroup(part, group))
    for (let up: Group | undefined = group; up !== undefined; up = up.parent) up.leaves -= gone
    this.#names = undefined
    return true
  }

  /**
   * Returns the id of exactly this name: PM_ID_NULL for a non-leaf, undefined if it is not visible. Unlike in `lookup`, a dynamic
   * root matches only itself.
   */
  idOf(name: string): Pmid | undefined {
    const node = this.#visible(name)
    return typeof node === 'number' || node === undefined
      ? node
      : node === this.#root
        ? undefined
        : PM_ID_NULL
  }

  /**
   * Returns the id of a leaf, or of the dynamic root at or above the name. PM_ERR_NAME and PM_ERR_NONLEAF are returned, because
   * each name of a look-up fails separately. @see pmLookupName(3)
   */
  lookup(name: string): Pmid | PcpError {
    const found = this.#find(name)
    if (typeof found === 'number') return found
    if (found === undefined || found === this.#root || found.leaves === 0) return unknown(name)
    return new PcpError('PM_ERR_NONLEAF', `Metric name is not a leaf in PMNS: "${name}"`)
  }

  /** Returns whether a name is a visible node, leaf or not. The root `''` always is. */
  has(name: string): boolean {
    return this.#visible(name) !== undefined
  }

  /**
   * Returns the children of a node in file order, none for a leaf. A dynamic root is a non-leaf whose children only the agent
   * knows. PM_ERR_NAME. @see pmGetChildrenStatus(3)
   */
  children(name: string): Child[] {
    const node = this.#visible(name)
    if (node === undefined) throw unknown(name)
    const list: Child[] = []
    if (typeof node === 'number') return list
    for (const [part, child] of node.children) {
      if (typeof child === 'number') list.push({ name: part, isLeaf: !isDynamicRoot(child) })
      else if (child.leaves > 0) list.push({ name: part, isLeaf: false })
    }
    return list
  }

  /** Returns the full names of all leaves below a node, depth first; a leaf returns itself. PM_ERR_NAME. @see pmTraversePMNS(3) */
  traverse(name = ''): string[] {
    const names: string[] = []
    this.walk(name, (leaf) => names.push(leaf))
    return names
  }

  /** Calls `visit` with each leaf at or below a node, depth first. PM_ERR_NAME. */
  walk(name: string, visit: (name: string, id: Pmid) => void): void {
    const node = this.#visible(name)
    if (node === undefined) throw unknown(name)
    if (typeof node === 'number') visit(name, node)
    else walkGroup(node, name === '' ? '' : `${name}.`, visit)
  }

  /**
   * Returns all names of an id, as in PCP the last in traversal order first. None for unknown ids and dynamic roots.
   * @see pmNameAll(3)
   */
  namesOf(id: Pmid): string[] {
    return isDynamicRoot(id) ? [] : this.#namesOf(id).reverse()
  }

  /** Returns the names of a domain's dynamic roots in traversal order. */
  dynamicRoots(domain: number): string[] {
    return this.#namesOf(dynamicRoot(domain))
  }

  #namesOf(id: Pmid): string[] {
    if (this.#names === undefined) {
      const names = new Map<Pmid, string | string[]>()
      walkGroup(this.#root, '', (name, leaf) => {
        const same = names.get(leaf)
        // Most ids have one name and need no list.
        if (same === undefined) names.set(leaf, name)
        else if (typeof same === 'string') names.set(leaf, [same, name])
        else same.push(name)
      })
      this.#names = names
    }
    const found = this.#names.get(id) ?? []
    return typeof found === 'string' ? [found] : [...found]
  }

  /** Returns a name space with only the leaves whose id `keep` accepts. @see pmTrimNameSpace(3) */
  trim(keep: (id: Pmid) => boolean): Pmns {
    const trimmed = new Pmns()
    this.walk('', (name, id) => {
      if (keep(id)) trimmed.add(name, id)
    })
    return trimmed
  }

  /** Returns the canonical text form for `parsePmns`: groups depth first, `root` first. docs/formats/pmns.md §2 */
  toString(): string {
    return groupText(this.#root, '')
  }

  /** Returns the group of a name, creating it and missing groups above it. */
  #grow(name: string): Group {
    let group = this.#root
    for (let start = 0; start <= name.length; ) {
      const end = endOfPart(name, start)
      const part = name.slice(start, end)
      const found = group.children.get(part)
      if (typeof found === 'number') {
        const full = fullName(group, part)
        throw new PcpError('PM_ERR_PMNS', `"${full}" is a metric, so "${name}" cannot be added below it`)
      }
      if (part === '') throw emptyPart(name)
      if (found === undefined) {
        const made = makeGroup(part, group)
        group.children.set(part, made)
        group = made
      } else group = found
      start = end + 1
    }
    return group
  }

  /** Returns the node of a name, or the dynamic root above it. */
  #find(name: string): Group | Pmid | undefined {
    let group = this.#root
    if (name === '') return group
    for (let start = 0; ; ) {
      const end = endOfPart(name, start)
      const child = group.children.get(name.slice(start, end))
      if (child === undefined || end === name.length) return child
      if (typeof child === 'number') return isDynamicRoot(child) ? child : undefined
      group = child
      start = end + 1
    }
  }

  #group(name: string): Group | undefined {
    const node = this.#visible(name)
    return typeof node === 'number' ? undefined : node
  }

  /** Returns the node of exactly this name if it is visible; `''` is the root. */
  #visible(name: string): Group | Pmid | undefined {
    let node: Group | Pmid = this.#root
    for (let start = 0; start <= name.length && name !== ''; ) {
      if (typeof node === 'number') return undefined
      const end = endOfPart(name, start)
      const child: Group | Pmid | undefined = node.children.get(name.slice(start, end))
      if (child === undefined || isEmpty(child)) return undefined
      node = child
      start = end + 1
    }
    return node
  }
}

function endOfPart(name: string, start: number): number {
  const dot = name.indexOf('.', start)
  return dot === -1 ? name.length : dot
}

function makeGroup(name: string, parent: Group | undefined): Group {
  return { name, parent, children: new Map(), leaves: 0 }
}

function isEmpty(node: Group | Pmid): boolean {
  return typeof node !== 'number' && node.leaves === 0
}

/** Returns the error for a leaf that cannot be added. */
function refusal(name: string, id: Pmid, old: Group | Pmid | undefined): PcpError {
  if (name === '' || name.endsWith('.')) return emptyPart(name)
  if (id === PM_ID_NULL) return new PcpError('PM_ERR_PMID', `Name "${name}" needs a PMID, not PM_ID_NULL`)
  const why =
    typeof old === 'number'
      ? `Duplicate name "${name}": it is ${pmidStr(old)} and cannot be ${pmidStr(id)} too`
      : `Name "${name}" has names below it and cannot have a PMID`
  return new PcpError('PM_ERR_PMNS', why)
}

function emptyPart(name: string): PcpError {
  return new PcpError('PM_ERR_NAME', `Metric name "${name}" has an empty part: write it as "a.b.c"`)
}

function unknown(name: string): PcpError {
  return new PcpError('PM_ERR_NAME', `Unknown metric name: "${name}"`)
}

function fullName(group: Group, part: string): string {
  let name = part
  for (let up = group; up.parent !== undefined; up = up.parent) name = `${up.name}.${name}`
  return name
}

function walkGroup(group: Group, prefix: string, visit: (name: string, id: Pmid) => void): void {
  for (const [part, child] of group.children) {
    if (typeof child === 'number') visit(prefix + part, child)
    else if (child.leaves > 0) walkGroup(child, `${prefix}${part}.`, visit)
  }
}

/** Text after `domain:cluster:` in a line, by item: formatting numbers would take half the time of writing. */
const LINE_ENDS: string[] = []

/** Formats the group of a non-leaf and, after empty lines, the groups below it. */
function groupText(group: Group, path: string): string {
  const below: Group[] = []
  let text = `${path === '' ? 'root' : path} {\n`
  let [high, prefix] = [-1, ''] // neighbours mostly differ only in the item
  for (const [name, child] of group.children) {
    if (typeof child !== 'number') {
      if (child.leaves === 0) continue
      below.push(child)
      text += `\t${name}\n`
    } else if (domainOf(child) === DOMAIN_RESERVED) {
      text += `\t${name}\t${dynamicId(child)}\n`
    } else {
      const item = itemOf(child)
      if (child - item !== high) prefix = `\t${domainOf(child)}:${clusterOf(child)}:`
      high = child - item
      LINE_ENDS[item] ??= `${item}\n`
      text += `\t${name}${prefix}${LINE_ENDS[item]}`
    }
  }
  text += '}\n'
  for (const child of below)
    text += `\n${groupText(child, path === '' ? child.name : `${path}.${child.name}`)}`
  return text
}

/** Formats a dynamic root: `29:*:*`. */
function dynamicId(id: Pmid): string {
  if (isDynamicRoot(id)) return `${clusterOf(id)}:*:*`
  throw new PcpError('PM_ERR_PMID', `PMID ${pmidStr(id)} is reserved and cannot be written to a file`)
}
