/**
 * Compares our agents with the reference's: each catalog row by row, and values on this machine, read from the reference, from ours and
 * from the reference again: ours must lie between. docs/developing/parity.md
 */

import type { MetricDesc } from '../../../src/model/desc.ts'
import { type Outcome, PcpError } from '../../../src/model/errors.ts'
import { indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../../src/model/ids.ts'
import type { Ask, Instances } from '../../../src/model/source.ts'
import { PM_SEM_INSTANT, semStr, typeStr } from '../../../src/model/types.ts'
import { unitsStr } from '../../../src/model/units.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import type { FetchResult, Value, ValueSet } from '../../../src/model/values.ts'
import type { CatalogueRow } from '../../lib/agent-catalogue.ts'

/** Result of comparing a catalog. */
export interface CatalogueTally {
  readonly rows: number
  /** Number of rows that are equal. */
  readonly equal: number
  /** Names of missing rows. */
  readonly missing: readonly string[]
  /** `name: what we have instead` */
  readonly different: readonly string[]
}

const FIELDS = ['pmid', 'type', 'sem', 'units', 'indom'] as const

/** Compares an agent's metrics with its catalog. */
export function compareCatalogue(
  has: readonly CatalogueRow[],
  catalogue: readonly CatalogueRow[],
): CatalogueTally {
  const ours = new Map(has.map((row) => [row.name, row]))
  const missing: string[] = []
  const different: string[] = []
  for (const row of catalogue) {
    const own = ours.get(row.name)
    if (own === undefined) missing.push(row.name)
    else {
      const wrong = FIELDS.filter((field) => isCompared(row, field, catalogue) && own[field] !== row[field])
      if (wrong.length > 0)
        different.push(
          `${row.name}: ${wrong.map((field) => `${field} ${own[field]}, not ${row[field]}`).join('; ')}`,
        )
    }
  }
  return {
    rows: catalogue.length,
    equal: catalogue.length - missing.length - different.length,
    missing,
    different,
  }
}

/** Returns whether to compare a row: excludes metrics of other agents, and fields undefined for a metric without a type. */
function isCompared(
  row: CatalogueRow,
  field: (typeof FIELDS)[number],
  [first]: readonly CatalogueRow[],
): boolean {
  if (field === 'pmid') return true
  const isForeign = row.pmid.split('.', 1)[0] !== first!.pmid.split('.', 1)[0]
  return !isForeign && row.type !== null && (row.sem !== null || field === 'type')
}

/** Returns an agent's rows for the names of a catalog, including dynamic names. */
export async function rowsOf(
  side: MetricReader,
  names: readonly string[],
  ask: Ask,
): Promise<CatalogueRow[]> {
  const found = await side.lookupNames(names, ask)
  const known = names.flatMap((name, i) => {
    const id = found[i]!
    return id instanceof PcpError ? [] : [{ name, id }]
  })
  const descs = await side.descs(
    known.map(({ id }) => id),
    ask,
  )
  return known.map(({ name, id }, i) => {
    const desc = descs[i]!
    if (desc instanceof PcpError)
      return { name, pmid: pmidStr(id), type: 'none', sem: 'none', units: 'none', indom: null }
    const { type, sem, units, indom } = desc
    return {
      name,
      pmid: pmidStr(id),
      type: typeStr(type).toLowerCase().replace('no_support', 'nosupport'),
      sem: semStr(sem),
      units: unitsStr(units) || 'none',
      indom: indom === PM_INDOM_NULL ? null : indomStr(indom),
    }
  })
}

/** The common interface of both sides: an agent in this process, or a context of the client library. */
export interface MetricReader {
  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]>
  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]>
  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult>
  instances(indom: number, ask: Ask): Promise<Instances>
  store(sets: readonly ValueSet[], ask: Ask): Promise<void>
}

/** Values of a metric by instance, or undefined. Instances of processes are identified by number, others by name. */
export type Answer = ReadonlyMap<string, Value> | undefined

/** Values of one metric, and whether they may go up and down. */
export interface MetricReading {
  readonly answer: Answer
  readonly isLevel: boolean
}

/** Domains with meaningful instance numbers, whose names change with the process. */
const BY_NUMBER: ReadonlySet<string> = new Set(['3.9', '3.39', '3.40'])

/** Fetches metrics in one request. */
export async function readAll(
  side: MetricReader,
  names: readonly string[],
  ask: Ask,
): Promise<Map<string, MetricReading>> {
  const found = await side.lookupNames(names, ask)
  const known = names.flatMap((name, i) => {
    const id = found[i]!
    return id instanceof PcpError ? [] : [{ name, id }]
  })
  const ids = known.map(({ id }) => id)
  const descs = await side.descs(ids, ask)
  const batched = { ...ask, batch: {} }
  const { sets } = await side.fetch(ids, batched)
  const namesOf = new Map<number, Map<number, string>>()
  const read = new Map<string, MetricReading>()
  for (const [i, set] of sets.entries()) {
    const desc = descs[i]!
    if (desc instanceof PcpError) continue
    const { indom, type } = desc
    const isNamed = indom !== PM_INDOM_NULL && !BY_NUMBER.has(indomStr(indom))
    if (set.status > 0 && isNamed && !namesOf.has(indom)) {
      const all = await side.instances(indom, batched)
      namesOf.set(indom, new Map(all.ids.map((id, at) => [id, all.names[at]!])))
    }
    const key = (inst: number): string =>
      isNamed ? (namesOf.get(indom)!.get(inst) ?? `#${inst}`) : String(inst)
    const answer =
      set.status <= 0 ? undefined : new Map(valuesOf(set, type).map(({ inst, value }) => [key(inst), value]))
    read.set(known[i]!.name, { answer, isLevel: desc.sem === PM_SEM_INSTANT })
  }
  return read
}

/** How far a level may be outside the reference's values before and after; counters must be between them. */
const LEVEL_SLACK = { share: 0.1, number: 32 } as const
const FLOAT_SLACK = 1e-7

type Match = 'exact' | 'drift' | 'differ'

/** Returns whether `value` is one of the two, or a number between them. */
function matchOf(before: Value, value: Value, after: Value, isLevel: boolean): Match {
  if (isSame(before, value) || isSame(after, value)) return 'exact'
  if (typeof before === 'string' && typeof value === 'string' && typeof after === 'string')
    return before !== after && isBetween(before, value, after) ? 'drift' : 'differ'
  const [a, b, mid] = [Number(before), Number(after), Number(value)]
  if ([a, b, mid].some(Number.isNaN) || typeof value === 'string') return 'differ'
  const slack = isLevel
    ? Math.max(LEVEL_SLACK.number, Math.abs(mid) * LEVEL_SLACK.share)
    : Math.abs(mid) * FLOAT_SLACK
  return mid >= Math.min(a, b) - slack && mid <= Math.max(a, b) + slack ? 'drift' : 'differ'
}

/** Share of lines that a constantly changing text, such as the maps of a busy process, has in common with one before or after. */
const SHARED_LINES = 0.9

function isBetween(before: string, value: string, after: string): boolean {
  const known = new Set([before, after].flatMap((text) => text.split('\n')))
  const lines = value.split('\n')
  return lines.filter((line) => known.has(line)).length >= lines.length * SHARED_LINES
}

/** Long texts of the reference may or may not end with a newline. */
function isSame(a: Value, b: Value): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a.trimEnd() === b.trimEnd()
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b
}

/** Result of comparing the values of a catalog. */
export interface ValueTally {
  exact: number
  drift: number
  /** `metric[instance]: before / ours / after` */
  differ: string[]
  /** Metrics without value on both sides. */
  none: number
  /** Metrics with intended differences. */
  deviations: number
}

/** Number of attempts for values that do not agree, which may have peaks on a busy machine. */
const ROUNDS = 8

/** Fewer mismatches than this are ignored: a new process had no further attempt. */
const MIN_MISSES = 3

/** Intended differences by reason: metrics, or single instances `metric[instance]`. */
export type Deviations = { readonly [reason: string]: RegExp }

/**
 * Compares values until all agree, at most `ROUNDS` times; `ready` is awaited before each round. Ignores instances that appeared or
 * disappeared between the reference's readings. A text that alternates, such as the state of a busy process, agrees if the reference had it
 * in any round.
 */
export async function compareValues(
  ours: MetricReader,
  theirs: MetricReader,
  names: readonly string[],
  ask: Ask,
  deviations: Deviations,
  ready: () => Promise<void> = async () => {},
): Promise<ValueTally> {
  const isDeviation = (name: string): boolean =>
    Object.values(deviations).some((pattern) => pattern.test(name))
  const tally: ValueTally = { exact: 0, drift: 0, differ: [], none: 0, deviations: 0 }
  let pending = names.filter((name) => !isDeviation(name))
  tally.deviations = names.length - pending.length
  const settled = new Set<string>()
  const misses = new Map<string, number>()
  const seen = new Map<string, Set<Value>>()
  for (let round = 0; round < ROUNDS && pending.length > 0; round++) {
    tally.differ = []
    await ready()
    const before = await readAll(theirs, pending, ask)
    const own = await readAll(ours, pending, ask)
    const after = await readAll(theirs, pending, ask)
    for (const reading of [before, after]) remember(reading, seen)
    pending = pending.filter((name) => {
      const wrong = compareMetric(
        name,
        before.get(name),
        own.get(name),
        after.get(name),
        seen,
        settled,
        tally,
      )
      for (const row of wrong) {
        const id = row.slice(0, row.indexOf(': '))
        const times = (misses.get(id) ?? 0) + 1
        misses.set(id, times)
        if (times >= MIN_MISSES && !isDeviation(id)) tally.differ.push(row)
      }
      return wrong.some((row) => !isDeviation(row.slice(0, row.indexOf(': '))))
    })
  }
  return tally
}

/** Stores the texts of a reading of the reference, by metric and instance. */
function remember(readings: ReadonlyMap<string, MetricReading>, seen: Map<string, Set<Value>>): void {
  for (const [name, { answer }] of readings)
    for (const [inst, value] of answer ?? []) {
      if (typeof value !== 'string') break
      const id = `${name}[${inst}]`
      const values = seen.get(id) ?? new Set()
      seen.set(id, values.add(value))
    }
}

/** Returns the mismatches of a metric; counts each value that agrees once. */
function compareMetric(
  name: string,
  before: MetricReading | undefined,
  own: MetricReading | undefined,
  after: MetricReading | undefined,
  seen: ReadonlyMap<string, ReadonlySet<Value>>,
  settled: Set<string>,
  tally: ValueTally,
): readonly string[] {
  const [a, mid, b] = [before?.answer, own?.answer, after?.answer]
  if (mid === undefined && a === undefined && b === undefined) {
    tally.none++
    return []
  }
  if (a === undefined || b === undefined || mid === undefined)
    return [`${name}: ${shown(a)} / ${shown(mid)} / ${shown(b)}`]
  const wrong: string[] = []
  for (const [inst, value] of a) {
    const later = b.get(inst)
    const id = `${name}[${inst}]`
    if (later === undefined || settled.has(id)) continue
    const mine = mid.get(inst)
    let match = mine === undefined ? 'differ' : matchOf(value, mine, later, own!.isLevel)
    if (match === 'differ' && mine !== undefined && seen.get(id)?.has(mine) === true) match = 'drift'
    if (match === 'differ') wrong.push(`${id}: ${clip(value)} / ${clip(mine)} / ${clip(later)}`)
    else {
      settled.add(id)
      tally[match]++
    }
  }
  for (const inst of mid.keys())
    if (!a.has(inst) && !b.has(inst) && !BRIEF.test(name)) wrong.push(`${name}[${inst}]: only ours`)
  return wrong
}

/** Processes may start and end between two readings. */
const BRIEF = /^(hot)?proc\./

function shown(answer: Answer): string {
  return answer === undefined ? 'none' : `${answer.size} values`
}

function clip(value: Value | undefined): string {
  return String(value).slice(0, 60)
}
