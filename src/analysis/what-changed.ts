/**
 * What changed in a span of time against the time before: all series of an archive, ranked. docs/decisions/what-changed.md
 *
 *     scan ──► means by bucket ──► score of each series ──► the best few hundred ──► groups ──► ranked list
 */

import type { ScanSink, ValueSink } from '../archive/scan.ts'
import { type ScannedArchive, scanParts } from '../archive/scan-parts.ts'
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { rateUnits } from '../model/rate.ts'
import type { Instances } from '../model/source.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { ChangeGrid, type TimeSpan } from './change-grid.ts'
import { type ChangeGroup, groupChanges } from './change-groups.ts'
import { type ChangeKind, changeOf, type SeriesChange } from './change-score.ts'
import { type ChangeMetric, ChangeSeries } from './change-series.ts'

/** The archive to examine. */
export interface ChangeArchive extends ScannedArchive {
  /** Returns all instances over the archive's life. PM_ERR_INDOM_LOG. */
  instances(indom: Indom): Instances
  /** Returns the one-line help of a metric; '' for none. */
  help(id: Pmid): Promise<string>
  /** Yields to other work between parts of the scan; throws if the client no longer waits. */
  yield(): Promise<void>
}

/** A question. */
export interface ChangeQuery {
  readonly span: TimeSpan
  /** The window to compare with; default: of the same length, directly before the span. */
  readonly before?: TimeSpan | undefined
  /** Most changes to return; default 20. */
  readonly limit?: number | undefined
}

/** A series that moved along with the first of its group. */
export interface RelatedChange {
  readonly metric: string
  /** '' for a metric without instances. */
  readonly instance: string
  readonly direction: 'up' | 'down'
}

/** One change; all numbers can be sent as JSON. */
export interface Change extends RelatedChange {
  readonly inst: number
  readonly kind: ChangeKind
  /** From 0 to 1; later changes of a subsystem are listed further down than their score alone would put them. */
  readonly score: number
  /** Means in `units`; null without a value. */
  readonly before: number | null
  readonly now: number | null
  /** Units of the values, as PCP writes them; those of a counter are of its rate. */
  readonly units: string
  /** Whether the metric is a counter, and the values are rates. */
  readonly isRate: boolean
  /** When the change begins, in seconds since the epoch. */
  readonly since: number
  /** When it was over; `now` is the mean until then. null if it lasted to the end of the span. */
  readonly until: number | null
  readonly help: string
  /** Values at equal distances over each window, at most `SPARK_POINTS`; null for a gap. */
  readonly sparks: { readonly before: readonly (number | null)[]; readonly now: readonly (number | null)[] }
  /** Series of the same metric or family that moved along, best first. */
  readonly others: readonly RelatedChange[]
}

/** An answer. */
export interface ChangeReport {
  /** The windows, as far as they were recorded. */
  readonly span: TimeSpan
  readonly before: TimeSpan
  /** The window of which nothing was recorded, so that nothing can be compared. */
  readonly unrecorded: 'span' | 'before' | null
  /** Number of series compared, and of those left out because there were too many. */
  readonly series: number
  readonly leftOut: number
  /** Best first. */
  readonly changes: readonly Change[]
  /** Number of changes that are neither listed nor named among the others of one. */
  readonly further: number
}

/** Most points of a sparkline, for each window. */
export const SPARK_POINTS = 40
/** Most changes of an answer. */
export const MOST_CHANGES = 100
const DEFAULT_CHANGES = 20
/** Most buckets of all series together, which bounds the memory to 72 MB: 25,000 series for windows of equal length. */
export const MOST_BUCKETS = 6_000_000
/** Changes that are grouped, all of which an answer may name, and the lowest score of them. */
export const MOST_CANDIDATES = 400
const LEAST_SCORE = 0.02
/** How far before a window, in seconds, the first values of rates are searched. */
const LOOK_BACK_SEC = 180

/**
 * Ranks the changes of numeric metrics. PM_ERR_ARG for windows that are empty or overlap; PM_ERR_* as `scan`, and any error of `yield`.
 */
export async function whatChanged(
  archive: ChangeArchive,
  metrics: readonly ChangeMetric[],
  { span: wanted, before: chosen, limit = DEFAULT_CHANGES }: ChangeQuery,
): Promise<ChangeReport> {
  const preceding = chosen ?? { start: 2 * wanted.start - wanted.finish, finish: wanted.start }
  if (!(wanted.finish > wanted.start && preceding.finish > preceding.start))
    throw new PcpError('PM_ERR_ARG', 'A window to compare must end after its start')
  if (preceding.finish > wanted.start && preceding.start < wanted.finish)
    throw new PcpError('PM_ERR_ARG', 'The windows to compare must not overlap')
  const span = recordedPart(archive, wanted)
  const before = recordedPart(archive, preceding)
  if (span === undefined || before === undefined)
    return {
      span: wanted,
      before: preceding,
      unrecorded: span === undefined ? 'span' : 'before',
      series: 0,
      leftOut: 0,
      changes: [],
      further: 0,
    }
  const grid = new ChangeGrid(before, span)
  const table = new SeriesTable(metrics, grid)
  // In the order of time, because sinks skip earlier values.
  for (const { start, finish } of scanWindows(before, span)) {
    table.mark()
    await scanParts(archive, table.ids, { from: start - LOOK_BACK_SEC, to: finish }, table, () =>
      archive.yield(),
    )
  }
  const { unrecorded } = table
  const candidates = unrecorded === null ? table.candidates() : []
  const { groups, further } = groupChanges(
    candidates.slice(0, MOST_CANDIDATES),
    grid,
    Math.min(limit, MOST_CHANGES),
  )
  const names = new InstanceNames(archive)
  const changes = await Promise.all(groups.map((group) => describeChange(group, grid, archive, names)))
  const ungrouped = Math.max(0, candidates.length - MOST_CANDIDATES)
  return {
    span,
    before,
    unrecorded,
    series: table.size,
    leftOut: table.leftOut,
    changes,
    further: further + ungrouped,
  }
}

/** Returns the windows to scan; adjacent ones are one. */
function scanWindows(before: TimeSpan, span: TimeSpan): TimeSpan[] {
  const [one, other] = before.start < span.start ? [before, span] : [span, before]
  return other.start - one.finish <= LOOK_BACK_SEC
    ? [{ start: one.start, finish: other.finish }]
    : [one, other]
}

/** All series of a scan. */
class SeriesTable implements ScanSink {
  readonly #grid: ChangeGrid
  readonly #metrics = new Map<Pmid, ChangeMetric>()
  readonly #series = new Map<Pmid, Map<number, ChangeSeries>>()
  readonly #leftOut = new Map<Pmid, Set<number>>()
  /** Number of series. */
  size = 0

  constructor(metrics: readonly ChangeMetric[], grid: ChangeGrid) {
    this.#grid = grid
    for (const metric of metrics)
      if (metric.desc.type <= PM_TYPE_DOUBLE && !this.#metrics.has(metric.desc.pmid))
        this.#metrics.set(metric.desc.pmid, metric)
  }

  get ids(): Pmid[] {
    return [...this.#metrics.keys()]
  }

  /** Number of series without room. */
  get leftOut(): number {
    return [...this.#leftOut.values()].reduce((sum, { size }) => sum + size, 0)
  }

  columnOf(pmid: Pmid, inst: number): ValueSink {
    const known = this.#series.get(pmid)?.get(inst)
    if (known !== undefined) return known
    if ((this.size + 1) * this.#grid.count > MOST_BUCKETS) {
      const others = this.#leftOut.get(pmid) ?? new Set()
      this.#leftOut.set(pmid, others.add(inst))
      return { add: () => {} }
    }
    const series = new ChangeSeries(this.#metrics.get(pmid)!, inst, this.#grid)
    const byInst = this.#series.get(pmid) ?? new Map<number, ChangeSeries>()
    this.#series.set(pmid, byInst.set(inst, series))
    this.size++
    return series
  }

  mark(): void {
    for (const byInst of this.#series.values()) for (const series of byInst.values()) series.mark()
  }

  /** The window without any value, because recording was interrupted. */
  get unrecorded(): 'span' | 'before' | null {
    if (!this.#hasValues(this.#grid.beforeCount)) return 'span'
    return this.#hasValues(0, this.#grid.beforeCount) ? null : 'before'
  }

  /** Returns the series that changed most, best first; both windows must have values. */
  candidates(): SeriesChange[] {
    const recorded = { before: true, now: true }
    const found: SeriesChange[] = []
    for (const byInst of this.#series.values()) {
      const changes = [...byInst.values()].flatMap((one) => changeOf(one, this.#grid, recorded) ?? [])
      const most = changes.reduce((high, change) => Math.max(high, levelOf(change)), 0)
      for (const change of changes) {
        const score = change.score * weightOf(change, most)
        if (score >= LEAST_SCORE) found.push({ ...change, score })
      }
    }
    return found.sort((a, b) => b.score - a.score)
  }

  #hasValues(from: number, to?: number): boolean {
    for (const byInst of this.#series.values())
      for (const { counts } of byInst.values())
        if (counts.subarray(from, to).some((count) => count > 0)) return true
    return false
  }
}

/** Share of the largest instance's level that counts as half. */
const HALF_SHARE = 0.1

const levelOf = ({ before, now }: SeriesChange): number => Math.max(Math.abs(before) || 0, Math.abs(now) || 0)

/** Returns the weight of an instance from 0 to 1: a small part of what all do together explains little. */
function weightOf({ before, now }: SeriesChange, most: number): number {
  const share = most === 0 ? 1 : Math.abs((now || 0) - (before || 0)) / most
  return (Math.min(1, share) * (1 + HALF_SHARE)) / (Math.min(1, share) + HALF_SHARE)
}

/** Names of instances, looked up once for each domain. */
class InstanceNames {
  readonly #archive: ChangeArchive
  readonly #known = new Map<Indom, ReadonlyMap<number, string>>()

  constructor(archive: ChangeArchive) {
    this.#archive = archive
  }

  nameOf({ metric: { desc }, inst }: ChangeSeries): string {
    if (desc.indom === PM_INDOM_NULL) return ''
    let names = this.#known.get(desc.indom)
    if (names === undefined) {
      const found = this.#archive.instances(desc.indom)
      names = new Map(Array.from(found.ids, (id, i) => [id, found.names[i]!]))
      this.#known.set(desc.indom, names)
    }
    return names.get(inst) ?? String(inst)
  }
}

async function describeChange(
  { leader, others }: ChangeGroup,
  grid: ChangeGrid,
  archive: ChangeArchive,
  names: InstanceNames,
): Promise<Change> {
  const { series, kind, score, before, now, since, until } = leader
  const { desc } = series.metric
  return {
    ...related(leader, names),
    inst: series.inst,
    kind,
    score,
    before: finite(before),
    now: finite(now),
    units: unitsStr(series.isRate ? rateUnits(desc.units).units : desc.units),
    isRate: series.isRate,
    since,
    until: until ?? null,
    help: await archive.help(desc.pmid),
    sparks: {
      before: sparkOf(series, 0, grid.beforeCount),
      now: sparkOf(series, grid.beforeCount, grid.count),
    },
    others: others.map((other) => related(other, names)),
  }
}

function related(change: SeriesChange, names: InstanceNames): RelatedChange {
  const { series, before, now } = change
  const isUp = (now || 0) >= (before || 0)
  return { metric: series.metric.name, instance: names.nameOf(series), direction: isUp ? 'up' : 'down' }
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Returns the means of equal parts of the buckets from `from` to `to`. */
function sparkOf({ sums, counts }: ChangeSeries, from: number, to: number): (number | null)[] {
  // A series with a longer interval has empty buckets between its values.
  const filled = counts.subarray(from, to).reduce((sum, count) => (count > 0 ? sum + 1 : sum), 0)
  const points = Math.min(SPARK_POINTS, Math.max(1, filled))
  return Array.from({ length: points }, (_, p) => {
    let [sum, count] = [0, 0]
    for (
      let i = from + Math.floor((p * (to - from)) / points);
      i < from + Math.floor(((p + 1) * (to - from)) / points);
      i++
    ) {
      sum += sums[i]!
      count += counts[i]!
    }
    return finite(sum / count)
  })
}

/** Returns the recorded part of a window; undefined if nothing of it was recorded. */
function recordedPart(archive: ScannedArchive, { start, finish }: TimeSpan): TimeSpan | undefined {
  const part = {
    start: Math.max(start, toSeconds(archive.start)),
    finish: Math.min(finish, toSeconds(archive.end())),
  }
  return part.finish > part.start ? part : undefined
}
