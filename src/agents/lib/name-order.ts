/** The order of names in the name space, which tools show when they list metrics: that of the rows. */
import type { MetricSpec } from '../../pmda/define.ts'

/** A row with its place among the metrics of PCP's agent of that name. */
export interface PlacedRow extends MetricSpec {
  /** Last part of the sibling that it follows. Default: the row before it. */
  readonly after?: string
  /** PCP's agent has no such metric. Tests accept no other additions to the catalogues of test/vectors/metrics. */
  readonly isAddition?: true
}

/** One inner node of the name space. */
interface Group {
  /** Rows below it that follow no certain sibling. */
  readonly leaves: string[]
  /** Rows by the name of the sibling that they follow. */
  readonly following: Map<string, string[]>
  readonly groups: Group[]
}

/**
 * Returns the rows in the order of the name space: in each group first its metrics, in row order unless a row says `after`, then
 * its groups, in order of first mention. `groups` mentions some before all rows, divided by blanks.
 */
export function inNameOrder<T extends PlacedRow>(
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
    // Most rows have the parent of the row before.
    if (name.lastIndexOf('.') !== parent.length || !name.startsWith(parent)) {
      parent = parentOf(name)
      group = groupOf(parent)
    }
    const { after } = rows[name]!
    const sibling = after === undefined ? undefined : `${parent}.${after}`
    if (sibling === undefined || rows[sibling] === undefined) group.leaves.push(name)
    else if (!group.following.get(sibling)?.push(name)) group.following.set(sibling, [name])
  }
  // without prototype it is a dictionary from the start: an ordinary object takes a microsecond for each name
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
