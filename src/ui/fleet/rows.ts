/** The rows of the fleet: filtered, sorted and grouped. */
import {
  FLEET_STATES,
  type FleetAnswer,
  type FleetArchive,
  type FleetState,
  type LiveHost,
} from '../../archive/fleet/answer.ts'
import { hostOf } from '../view/view.ts'

/** A host. */
export interface FleetRow {
  readonly key: string
  readonly name: string
  readonly state: FleetState
  /** Newest sample and seconds between samples. */
  readonly last: number | null
  readonly every: number | null
  readonly labels: ReadonlyMap<string, string>
  /** By figure; null is unknown. */
  readonly values: Readonly<Record<string, number | null>>
  readonly states: Readonly<Record<string, FleetState>>
  readonly archives: readonly FleetArchive[]
  /** Key of its collector on the page, for a host without archives. */
  readonly source?: string
}

/** A group of hosts with the same value of a label, or a host. */
export type FleetItem =
  | { readonly kind: 'group'; readonly title: string; readonly rows: readonly FleetRow[] }
  | { readonly kind: 'host'; readonly row: FleetRow }

/** Order of a table. */
export interface FleetOrder {
  /** `state`, `name`, `last`, `metric`, or a figure. */
  readonly column: string
  readonly isDescending: boolean
}

/** Names of states, which a filter can use: `state=critical`. */
export const STATE_NAMES: Readonly<Record<FleetState, string>> = {
  bad: 'Critical',
  warn: 'Warning',
  stale: 'Stale',
  unknown: 'Unknown',
  partial: 'Partly known',
  ok: 'OK',
}

/** States from the worst on. */
export const STATES: readonly FleetState[] = ['bad', 'warn', 'stale', 'unknown', 'partial', 'ok']

/** Labels with more values are not offered as a choice. */
const MOST_VALUES = 30

/** Returns the hosts of an answer. */
export function rowsOf({ hosts, labels, figures }: FleetAnswer): FleetRow[] {
  return hosts.key.map((key, i) => {
    const own = labels.flatMap(({ name, values, of }): [string, string][] =>
      of[i]! < 0 ? [] : [[name, values[of[i]!]!]],
    )
    const byFigure = <V>(of: (id: string) => V): Record<string, V> =>
      Object.fromEntries(figures.map(({ id }) => [id, of(id)]))
    return {
      key,
      name: hosts.name[i]!,
      state: FLEET_STATES[hosts.state[i]!]!,
      last: hosts.last[i]!,
      every: hosts.every[i]!,
      labels: new Map(own),
      values: byFigure((id) => hosts.values[id]![i]!),
      states: byFigure((id) => FLEET_STATES[hosts.states[id]![i]!]!),
      archives: hosts.archives[i]!,
    }
  })
}

/** Returns the collectors that no row has, as hosts of which nothing is recorded. `live` has their health by host specification. */
export function liveRows(
  rows: readonly FleetRow[],
  collectors: Iterable<{ readonly key: string; readonly host: string }>,
  live: ReadonlyMap<string, LiveHost> = new Map(),
): FleetRow[] {
  const names = new Set(rows.map(({ name }) => name))
  return [...collectors]
    .filter(({ key, host }) => hostOf(key) !== undefined && !names.has(host))
    .map(({ key, host }) => {
      const { state, last = null, values = {}, states = {} } = live.get(hostOf(key)!) ?? {}
      const named = Object.entries(states).map(([id, each]) => [id, FLEET_STATES[each]!] as const)
      return {
        ...{ key: host, name: host, last, every: null, labels: new Map(), values, archives: [], source: key },
        state: state === undefined ? 'unknown' : FLEET_STATES[state]!,
        states: Object.fromEntries(named),
      }
    })
}

/** Returns the labels that divide the hosts into few groups, with their values. */
export function facetsOf({ labels, hosts }: FleetAnswer): readonly (readonly [string, readonly string[]])[] {
  const most = Math.min(MOST_VALUES, hosts.key.length - 1)
  return labels
    .filter(({ values }) => values.length <= most)
    .map(({ name, values }) => [name, [...values].sort()] as const)
}

/** Returns the hosts that match every term: `label=value`, `label!=value`, `state=critical`, or text of a name or label. */
export function filtered(rows: readonly FleetRow[], filter: string): readonly FleetRow[] {
  const terms = termsOf(filter)
  return terms.length === 0 ? rows : rows.filter((row) => terms.every((term) => matches(row, term)))
}

interface Term {
  readonly label: string | undefined
  readonly isNegated: boolean
  readonly text: string
}

function termsOf(filter: string): Term[] {
  return (filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((word) => {
    const [, label, not = '', value] = /^([\w.]+)(!?)=(.*)$/.exec(word) ?? []
    const text = (value ?? word).replaceAll('"', '').toLowerCase()
    return { label, isNegated: not === '!', text }
  })
}

function matches(row: FleetRow, { label, isNegated, text }: Term): boolean {
  if (label === undefined)
    return [row.name, row.key, ...row.labels.values()].some((one) => one.toLowerCase().includes(text))
  const value = label === 'state' ? STATE_NAMES[row.state] : row.labels.get(label)
  return (value?.toLowerCase() === text) !== isNegated
}

/** Adds a term to a filter, or removes it if it is there. */
export function toggled(filter: string, label: string, value: string): string {
  const term = `${label}=${/\s/.test(value) ? `"${value}"` : value}`
  const words = filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []
  const rest = words.filter((word) => word.toLowerCase() !== term.toLowerCase())
  return (rest.length < words.length ? rest : [...rest, term]).join(' ')
}

/** Checks whether a filter has a term. */
export function hasTerm(filter: string, label: string, value: string): boolean {
  return toggled(filter, label, value).length < filter.length
}

/** Sorts hosts; those without a value are last in both directions. `means` are the values of the column `metric`. */
export function sorted(
  rows: readonly FleetRow[],
  { column, isDescending }: FleetOrder,
  means: ReadonlyMap<string, number>,
): FleetRow[] {
  const sign = isDescending ? -1 : 1
  const numberOf = (row: FleetRow): number | null => {
    if (column === 'state') return -STATES.indexOf(row.state)
    if (column === 'last') return row.last
    return column === 'metric' ? (means.get(row.key) ?? null) : (row.values[column] ?? null)
  }
  const byName = (a: FleetRow, b: FleetRow): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
  if (column === 'name') return [...rows].sort((a, b) => sign * byName(a, b))
  const keyed = rows.map((row) => ({ row, value: numberOf(row) }))
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null)
      return Number(a.value === null) - Number(b.value === null) || byName(a.row, b.row)
    return sign * (a.value - b.value) || byName(a.row, b.row)
  })
  return keyed.map(({ row }) => row)
}

/** Puts hosts into groups by a label, '' for none; the order within a group stays. */
export function grouped(rows: readonly FleetRow[], label: string): FleetItem[] {
  if (label === '') return rows.map((row) => ({ kind: 'host', row }))
  const groups = new Map<string, FleetRow[]>()
  for (const row of rows) {
    const value = row.labels.get(label) ?? ''
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [row])
    else group.push(row)
  }
  return [...groups]
    .sort(([a], [b]) => Number(a === '') - Number(b === '') || (a < b ? -1 : 1))
    .flatMap(([value, own]): FleetItem[] => [
      { kind: 'group', title: value === '' ? `without ${label}` : `${label}=${value}`, rows: own },
      ...own.map((row) => ({ kind: 'host' as const, row })),
    ])
}

/** Returns the number of hosts in each state, from the worst on; states without a host are left out. */
export function countStates(rows: readonly FleetRow[]): readonly (readonly [FleetState, number])[] {
  return STATES.map((state) => [state, rows.filter((row) => row.state === state).length] as const).filter(
    ([, count]) => count > 0,
  )
}

/** Returns the archive of a host that covers a time, else the nearest before it, else the first. */
export function archiveAt({ archives }: FleetRow, at: number): FleetArchive | undefined {
  return (
    archives.findLast(([, start, end]) => start <= at && at <= end) ??
    archives.findLast(([, start]) => start <= at) ??
    archives[0]
  )
}
