/** Links the groups of a name space file into one tree. docs/formats/pmns.md §2 */
import type { ErrorReason } from '../model/errors.ts'
import { isDynamicRoot, PM_ID_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import { type Entries, Pmns } from './tree.ts'

/** Reasons with a name for which a name space cannot be linked. */
export type PmnsReason = Extract<ErrorReason, 'duplicate-name' | 'duplicate-pmid'>

/** A group in a file: its path, and its entries in order. */
export interface Group extends Entries {
  readonly path: string
  readonly names: string[]
  readonly ids: Pmid[]
}

/** Adds the groups between the root and the first group, if the root is missing. */
export function addMissingGroups(groups: readonly Group[]): readonly Group[] {
  const first = groups[0]
  if (first === undefined || groups.some(({ path }) => path === 'root')) return groups
  const parts = first.path.split('.')
  const above = parts.map((name, i) => ({
    path: i === 0 ? 'root' : parts.slice(0, i).join('.'),
    names: [name],
    ids: [PM_ID_NULL],
  }))
  return [...above, ...groups]
}

/** Links the groups into one tree, starting from the root; reports inconsistencies to `wrong`. */
export function link(
  groups: readonly Group[],
  isUnique: boolean,
  wrong: (message: string, reason?: PmnsReason) => undefined,
): Pmns | undefined {
  const roots = groups.filter((group) => group.path === 'root')
  if (roots.length === 0) return wrong('No name space entry for "root"')
  if (roots.length > 1) return wrong('Multiple name space entries for "root"')
  const byPath = new Map<string, Group>()
  for (const group of groups) {
    // The root has no name, so a non-leaf called root is another group. The last group of a name wins.
    if (group.path !== 'root') byPath.set(group.path, group)
  }
  const pmns = new Pmns()
  const tree: Linking = { pmns, byPath, linked: new Set(roots), byId: isUnique ? new Map() : undefined }
  const lost = collect(roots[0]!, '', tree)
  if (lost !== undefined) return wrong(`Cannot find definition for non-terminal node "${lost}" in name space`)
  for (const group of [...groups].reverse()) {
    if (!tree.linked.has(group)) wrong(`Disconnected subtree ("${group.path}") in name space`)
  }
  if (tree.linked.size === groups.length && tree.duplicate !== undefined)
    wrong(tree.duplicate, 'duplicate-pmid')
  return pmns
}

/** A name space being built. */
interface Linking {
  readonly pmns: Pmns
  readonly byPath: ReadonlyMap<string, Group>
  /** Groups reachable from the root. */
  readonly linked: Set<Group>
  /** Names by id, if each id may have only one name. */
  readonly byId: Map<Pmid, string> | undefined
  /** Message for the first id with two names. */
  duplicate?: string
}

/** Adds the leaves at and below a group, depth first; returns the name of the first non-leaf without a group. */
function collect(group: Group, path: string, tree: Linking): string | undefined {
  const { names, ids } = group
  let from = 0
  for (let i = 0; i < names.length; i++) {
    if (ids[i] !== PM_ID_NULL) continue
    addLeaves(path, group, from, i, tree)
    from = i + 1
    const name = path === '' ? names[i]! : `${path}.${names[i]}`
    const below = tree.byPath.get(name)
    if (below === undefined) return name
    tree.linked.add(below)
    const lost = collect(below, name, tree)
    if (lost !== undefined) return lost
  }
  addLeaves(path, group, from, names.length, tree)
  return undefined
}

/** Adds leaves from a range of a group's entries. */
function addLeaves(path: string, group: Group, from: number, to: number, tree: Linking): void {
  tree.pmns.addBelow(path, group, from, to)
  const { byId } = tree
  if (byId === undefined || tree.duplicate !== undefined) return
  for (let i = from; i < to; i++) {
    const id = group.ids[i]!
    if (isDynamicRoot(id)) continue
    const name = path === '' ? group.names[i]! : `${path}.${group.names[i]}`
    const old = byId.get(id)
    byId.set(id, name)
    if (old === undefined) continue
    tree.duplicate = `Duplicate metric id (${pmidStr(id)}) in name space for metrics "${name}" and "${old}"`
    return
  }
}
