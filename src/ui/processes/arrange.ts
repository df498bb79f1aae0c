/** Order, filter, groups and tree of process rows. */
import type { ProcessRow } from './rows.ts'

/** Columns by which rows are sorted. */
export type SortKey = 'pid' | 'user' | 'command' | 'state' | 'cpu' | 'memory' | 'io'

/** How rows are put together. */
export type Grouping = 'none' | 'tree' | 'command' | 'user' | 'cgroup' | 'container'

/** An order of rows. */
export interface Order {
  readonly key: SortKey
  readonly isUp: boolean
}

/** A line of the table: a process, or the sum of a group. */
export type TableItem =
  | {
      readonly kind: 'process'
      readonly row: ProcessRow /** Levels below the root. */
      readonly depth: number
    }
  | ({ readonly kind: 'group'; readonly title: string; readonly count: number } & Sums)

/** Sums of a group; null if no process has a value. */
export interface Sums {
  readonly cpu: number | null
  readonly memory: number | null
  readonly io: number | null
}

/** Returns the rows that contain every word of a filter in PID, user, command, control group or container. */
export function filtered(rows: readonly ProcessRow[], filter: string): readonly ProcessRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter(({ pid, user, command, cgroup, container }) => {
    const text = `${pid} ${user} ${command} ${cgroup} ${container}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Returns the lines of the table. */
export function arranged(rows: readonly ProcessRow[], grouping: Grouping, order: Order): TableItem[] {
  const sorted = rows.toSorted((a, b) => compare(a, b, order))
  if (grouping === 'tree') return tree(sorted)
  if (grouping === 'none') return sorted.map((row) => ({ kind: 'process', row, depth: 0 }))
  return grouped(sorted, grouping, order)
}

/** Missing values are last in both directions; equal rows are ordered by memory, as all are before the first rates. */
function compare(a: ProcessRow, b: ProcessRow, { key, isUp }: Order): number {
  return compareValues(a[key], b[key], isUp) || compareValues(a.memory, b.memory, false) || a.pid - b.pid
}

function compareValues(a: string | number | null, b: string | number | null, isUp: boolean): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return (a < b ? -1 : 1) * (isUp ? 1 : -1)
}

/** Children follow their parent, in the given order; rows without a listed parent are roots. */
function tree(rows: readonly ProcessRow[]): TableItem[] {
  const listed = new Set(rows.map(({ pid }) => pid))
  const children = new Map<number | undefined, ProcessRow[]>()
  for (const row of rows) {
    const parent =
      row.parent !== null && row.parent !== row.pid && listed.has(row.parent) ? row.parent : undefined
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [row])
    else siblings.push(row)
  }
  const items: TableItem[] = []
  const seen = new Set<number>()
  // A stack, because chains of thousands of processes are possible.
  const pending: { readonly row: ProcessRow; readonly depth: number }[] = []
  const walk = (roots: readonly ProcessRow[]): void => {
    for (const row of roots.toReversed()) pending.push({ row, depth: 0 })
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { row, depth } = next
      if (seen.has(row.pid)) continue
      seen.add(row.pid)
      items.push({ kind: 'process', row, depth })
      for (const child of (children.get(row.pid) ?? []).toReversed())
        pending.push({ row: child, depth: depth + 1 })
    }
  }
  walk(children.get(undefined) ?? [])
  // Reused PIDs may form a cycle, which no root leads to.
  walk(rows.filter(({ pid }) => !seen.has(pid)))
  return items
}

type GroupKey = Exclude<Grouping, 'none' | 'tree'>

const TITLES: Readonly<Record<GroupKey, (row: ProcessRow) => string>> = {
  command: ({ command }) => command.split(' ', 1)[0]!.split('/').at(-1) || command,
  user: ({ user }) => user || 'unknown user',
  cgroup: ({ cgroup }) => cgroup || 'no control group',
  container: ({ container }) => container.slice(0, 12) || 'no container',
}

/** Groups in the order of their sums, or of their titles; each followed by its rows. */
function grouped(rows: readonly ProcessRow[], by: GroupKey, { key, isUp }: Order): TableItem[] {
  const groups = new Map<string, ProcessRow[]>()
  for (const row of rows) {
    const title = TITLES[by](row)
    const known = groups.get(title)
    if (known === undefined) groups.set(title, [row])
    else known.push(row)
  }
  const all = Array.from(groups, ([title, own]) => ({ title, own, sums: sumsOf(own) }))
  const rank = ({ title, sums }: (typeof all)[number]): string | number | null =>
    key === 'cpu' || key === 'memory' || key === 'io' ? sums[key] : title
  all.sort((a, b) => compareValues(rank(a), rank(b), isUp) || (a.title < b.title ? -1 : 1))
  return all.flatMap(({ title, own, sums }): TableItem[] => [
    { kind: 'group', title, count: own.length, ...sums },
    ...own.map((row): TableItem => ({ kind: 'process', row, depth: 1 })),
  ])
}

function sumsOf(rows: readonly ProcessRow[]): Sums {
  const sum = (key: keyof Sums): number | null =>
    rows.reduce<number | null>(
      (total, { [key]: value }) => (value === null ? total : (total ?? 0) + value),
      null,
    )
  return { cpu: sum('cpu'), memory: sum('memory'), io: sum('io') }
}
