/** The performance metrics name space: a tree of names whose leaves carry PMIDs. docs/formats/pmns.md §1 */
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

/** Children of one node in columns: an object for each would cost as much as reading it. */
export interface Entries {
  /** Single components. */
  readonly names: readonly string[]
  /** PM_ID_NULL for non-leaves. */
  readonly ids: readonly Pmid[]
}

/** A component of a name that is no leaf. An empty one has no leaves. */
interface Group {
  readonly name: string
  readonly parent: Group | undefined
  /** Leaves by their id alone: most components are leaves, and a hundred thousand objects take time to make. */
  readonly children: Map<string, Group | Pmid>
  /** Leaves below: a group without any is invisible. */
  leaves: number
}

/**
 * A name space. Children keep the order in which they were added, several names may share a PMID, and a non-leaf
 * without leaves is invisible. A leaf whose id is a dynamic root (`D.*.*`) delegates the names below it to the agent
 * of domain D: `lookup` answers with the root's id for those, and whoever can ask that agent does so.
 */
export class Pmns {
  readonly #root: Group = makeGroup('', undefined)
  /** Full names by id in traversal order, made when first asked for: who only edits a name space never asks. */
  #names: Map<Pmid, string | string[]> | undefined

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
    const dot = name.lastIndexOf('.')
    this.#put(dot === -1 ? this.#root : this.#grow(name.slice(0, dot)), name.slice(dot + 1), id)
  }

  /** As `add` of the leaves among `entries[from]` to before `entries[to]`, below the non-leaf `path`; `''` is the root. */
  addBelow(path: string, { names, ids }: Entries, from = 0, to: number = names.length): void {
    let group: Group | undefined
    for (let i = from; i < to; i++) {
      const id = ids[i]!
      if (id === PM_ID_NULL) continue
      group ??= path === '' ? this.#root : this.#grow(path)
      this.#put(group, names[i]!, id)
    }
  }

  /** Makes a child a leaf. */
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
   * Removes a leaf, or every leaf below a non-leaf; false when there is no such name. What is left empty can no longer
   * be seen, but keeps its place for names added later. @see pmnsdel(1)
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
   * Id of exactly this name: PM_ID_NULL for a non-leaf, undefined for what cannot be seen. Unlike `lookup`, a dynamic
   * root answers for itself alone.
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
   * Id of a leaf, or of the dynamic root at or above the name. PM_ERR_NAME, PM_ERR_NONLEAF are data: look-ups of many
   * names fail one by one. @see pmLookupName(3)
   */
  lookup(name: string): Pmid | PcpError {
    const found = this.#find(name)
    if (typeof found === 'number') return found
    if (found === undefined || found === this.#root || found.leaves === 0) return unknown(name)
    return new PcpError('PM_ERR_NONLEAF', `Metric name is not a leaf in PMNS: "${name}"`)
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
    if (typeof node === 'number') return list
    for (const [part, child] of node.children) {
      if (typeof child === 'number') list.push({ name: part, isLeaf: !isDynamicRoot(child) })
      else if (child.leaves > 0) list.push({ name: part, isLeaf: false })
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
    if (typeof node === 'number') visit(name, node)
    else walkGroup(node, name === '' ? '' : `${name}.`, visit)
  }

  /**
   * All names of an id: the last in traversal order comes first, as in PCP. None for unknown ids and for dynamic roots.
   * @see pmNameAll(3)
   */
  namesOf(id: Pmid): string[] {
    return isDynamicRoot(id) ? [] : this.#namesOf(id).reverse()
  }

  /** Names of the dynamic roots of a domain, in traversal order. */
  dynamicRoots(domain: number): string[] {
    return this.#namesOf(dynamicRoot(domain))
  }

  #namesOf(id: Pmid): string[] {
    if (this.#names === undefined) {
      const names = new Map<Pmid, string | string[]>()
      walkGroup(this.#root, '', (name, leaf) => {
        const same = names.get(leaf)
        // Most ids have one name, which then needs no list.
        if (same === undefined) names.set(leaf, name)
        else if (typeof same === 'string') names.set(leaf, [same, name])
        else same.push(name)
      })
      this.#names = names
    }
    const found = this.#names.get(id) ?? []
    return typeof found === 'string' ? [found] : [...found]
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
    return groupText(this.#root, '')
  }

  /** The group of a name, making it and what is missing above it. */
  #grow(name: string): Group {
    let group = this.#root
    for (let start = 0; start <= name.length; ) {
      const end = endOfPart(name, start)
      const part = name.slice(start, end)
      const found = group.children.get(part)
      if (typeof found === 'number') {
        const full = fullName(group, part)
        throw new PcpError('PM_ERR_PMNS', `"${full}" is a metric: nothing can be added as "${name}"`)
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

  /** The node of a name, or the dynamic root above it. */
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

  /** The node of exactly this name, when it can be seen; `''` is the root. */
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

/** Why a leaf cannot be added. */
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

/** What follows `domain:cluster:` in a line, by item: making text of numbers takes half the time of writing. */
const LINE_ENDS: string[] = []

/** The group of a non-leaf, and after empty lines those of the non-leaves below it. */
function groupText(group: Group, path: string): string {
  const below: Group[] = []
  let text = `${path === '' ? 'root' : path} {\n`
  let [high, prefix] = [-1, ''] // neighbours mostly differ in the item alone
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

/** A dynamic root as files write it: `29:*:*`. */
function dynamicId(id: Pmid): string {
  if (isDynamicRoot(id)) return `${clusterOf(id)}:*:*`
  throw new PcpError('PM_ERR_PMID', `PMID ${pmidStr(id)} is reserved and cannot be written to a file`)
}
