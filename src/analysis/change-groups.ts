/** Merges redundant changes, so that the first rows of a list name different causes. docs/decisions/what-changed.md */
import type { ChangeGrid } from './change-grid.ts'
import { deviationsOf, type SeriesChange } from './change-score.ts'
import { correlation, median } from './robust.ts'

/** A change, and those merged into it. */
export interface ChangeGroup {
  readonly leader: SeriesChange
  readonly others: SeriesChange[]
  /** Its score after those of the same subsystem before it; the order of the list. */
  readonly rank: number
}

/** Correlation of two metrics that change together; of instances of one metric, whose own noise counts less. */
const TOGETHER = 0.8
const TOGETHER_INSTANCES = 0.5
/** Correlation of the noise of two metrics that measure the same. */
const SAME_NOISE = 0.85
/** Steps are bounded to this multiple of their median size. */
const MOST_STEP = 3
/** Factor for each earlier group of the same subsystem. */
const AGAIN = 0.8
/** Changes without buckets belong together if they begin within so many buckets. */
const NEAR = 3

/** The groups of a list of changes. */
export interface ChangeGroups {
  readonly groups: readonly ChangeGroup[]
  /** Number of groups after the first `limit`. */
  readonly further: number
}

/** Returns the first `limit` groups of changes, which are in the order of their scores, best first. */
export function groupChanges(
  changes: readonly SeriesChange[],
  grid: ChangeGrid,
  limit: number,
): ChangeGroups {
  const groups: { readonly leader: SeriesChange; readonly others: SeriesChange[] }[] = []
  const shapes = new Map<SeriesChange, Shape>()
  const shapeOf = (change: SeriesChange): Shape => {
    const known = shapes.get(change) ?? new Shape(change, grid)
    shapes.set(change, known)
    return known
  }
  for (const change of changes) {
    const same = groups.find(({ leader }) => isSame(shapeOf(leader), shapeOf(change), grid))
    if (same !== undefined) same.others.push(change)
    else groups.push({ leader: change, others: [] })
  }
  return { groups: ranked(groups, limit), further: Math.max(0, groups.length - limit) }
}

/** The course of a change by bucket; empty for one without a level before. */
class Shape {
  readonly change: SeriesChange
  readonly deviations: Float64Array
  #noise: Float64Array | undefined

  constructor(change: SeriesChange, grid: ChangeGrid) {
    this.change = change
    this.deviations = deviationsOf(change, grid)
  }

  get noise(): Float64Array {
    this.#noise ??= stepsOf(this.deviations)
    return this.#noise
  }
}

/** Orders groups so that the second and later ones of a subsystem give way to others of a similar score. */
function ranked(groups: readonly Omit<ChangeGroup, 'rank'>[], limit: number): ChangeGroup[] {
  const counts = new Map<string, number>()
  const rest = [...groups]
  const order: ChangeGroup[] = []
  while (order.length < limit && rest.length > 0) {
    let best = 0
    let rank = -1
    for (const [i, { leader }] of rest.entries()) {
      const now = leader.score * AGAIN ** (counts.get(subsystemOf(leader)) ?? 0)
      if (now > rank) [best, rank] = [i, now]
    }
    const [group] = rest.splice(best, 1)
    const subsystem = subsystemOf(group!.leader)
    counts.set(subsystem, (counts.get(subsystem) ?? 0) + 1)
    order.push({ ...group!, rank })
  }
  return order
}

const partsOf = ({ series }: SeriesChange): string[] => series.metric.name.split('.')

const subsystemOf = (change: SeriesChange): string => partsOf(change)[0]!

/**
 * Returns the node of the name space whose metrics are often parts of a whole: `mem.util`, `kernel.all.pressure.io`. Those directly below
 * `kernel.all` have little in common.
 */
function familyOf(change: SeriesChange): string {
  const parts = partsOf(change)
  return parts.length === 3 && parts[1] === 'all' && parts[0] === 'kernel'
    ? parts.join('.')
    : parts.slice(0, Math.min(4, parts.length - 1)).join('.')
}

/** Returns whether two metrics are of one family, or a whole and its parts: `disk.all.read` and `disk.dev.read`. */
function areKin(one: SeriesChange, other: SeriesChange): boolean {
  return (
    familyOf(one) === familyOf(other) ||
    (subsystemOf(one) === subsystemOf(other) && partsOf(one).at(-1) === partsOf(other).at(-1))
  )
}

function isSame(one: Shape, other: Shape, grid: ChangeGrid): boolean {
  const { change: leader } = one
  const { change } = other
  if (one.deviations.length === 0 || other.deviations.length === 0)
    return (
      leader.kind === change.kind &&
      // Instances such as processes come and go all the time.
      (leader.series.metric === change.series.metric ||
        (areKin(leader, change) && Math.abs(leader.since - change.since) <= NEAR * grid.width))
    )
  const together = Math.abs(correlation(one.deviations, other.deviations))
  if (leader.series.metric === change.series.metric) return together >= TOGETHER_INSTANCES
  if (together < TOGETHER) return false
  if (areKin(leader, change)) return true
  return Math.abs(correlation(one.noise, other.noise)) >= SAME_NOISE
}

/**
 * Returns the steps from value to value, bounded so that the few large ones of the change itself do not count. The rest is noise,
 * without levels and trends.
 */
function stepsOf(deviations: Float64Array): Float64Array {
  let last = Number.NaN
  const steps = deviations.map((value) => {
    if (Number.isNaN(value)) return Number.NaN
    const step = value - last
    last = value
    return step
  })
  const sizes = steps.filter((step) => !Number.isNaN(step)).map(Math.abs)
  const most = MOST_STEP * median(sizes)
  return steps.map((step) => Math.min(most, Math.max(-most, step)))
}
