/** Orders the rows of an agent as tools list metrics. */
import type { MetricSpec } from '../../pmda/define.ts'

/** A row with its position among the metrics of PCP's agent of that name. */
export interface OrderedRow extends MetricSpec {
  /** Last part of the name of the preceding sibling. Default: the row before it. */
  readonly after?: string
  /** Not a metric of PCP's agent. Tests accept no other additions to the catalogues of test/vectors/metrics. */
  readonly isAddition?: true
}

/** An inner node of the name space. */
interface Group {
  /** Its metrics without `after`. */
  readonly leaves: string[]
  /** Its metrics with `after`, by the name of the preceding sibling. */
  readonly following: Map<string, string[]>
  readonly groups: Group[]
}

/**
 * Returns the rows in the order of the name space: in each group its metrics, in row order unless a row has `after`, then
 * its groups in the order of first mention. `groups` lists, separated by spaces, groups that come before all others.
 */
export function inNameOrder<T extends OrderedRow>(
  rows: { readonly [name: string]: T },
  groups = '',
): { [name: string]: T } {
  const known = new Map<string, Group>()
  const groupOf = (name: string): Group => {
    let group = known.get(name)
    if (group !== undefined) return group
    group = { leaves: [], following: new Map(), groups: [] }
    known.set(name, group)
    if (name !== '') groupOf(parentOf(name)).groups.push(group)
    return group
  }
  for (const name of groups.split(/\s+/)) groupOf(name)
  let parent = ''
  let group = groupOf(parent)
  for (const name in rows) {
    // Most rows have the same parent as the row before.
    if (name.lastIndexOf('.') !== parent.length || !name.startsWith(parent)) {
      parent = parentOf(name)
      group = groupOf(parent)
    }
    const { after } = rows[name]!
    const sibling = after === undefined ? undefined : `${parent}.${after}`
    if (sibling === undefined || rows[sibling] === undefined) group.leaves.push(name)
    else if (!group.following.get(sibling)?.push(name)) group.following.set(sibling, [name])
  }
  // without a prototype the object is a hash table from the start; an ordinary object takes a microsecond per added name
  const sorted: { [name: string]: T } = Object.create(null)
  const addLeaves = (leaves: readonly string[] | undefined, following: Group['following']): void => {
    for (const name of leaves ?? []) {
      sorted[name] = rows[name]!
      addLeaves(following.get(name), following)
    }
  }
  const addGroup = ({ leaves, following, groups: inner }: Group): void => {
    addLeaves(leaves, following)
    for (const each of inner) addGroup(each)
  }
  addGroup(groupOf(''))
  return sorted
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')))
}
