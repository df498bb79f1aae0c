/** Figures of a host's health: how they are computed, and from which value on they are a problem. docs/reference/pmproxy.md */
import type { FleetFigure, FleetState, SeenRule } from './answer.ts'
import type { Aggregate } from './bucket-means.ts'

/** A value of a host by bucket: a metric, with its instances combined or one of them selected. */
export interface NeededMetric {
  readonly name: string
  readonly instance?: string | undefined
  /** Default for several instances: the sum for counters, else the mean. */
  readonly aggregate?: Aggregate | undefined
  /** Raw units in a base unit, if its rate differs from that of the page, which has values in base units. */
  readonly rawPerBase?: number
  /** Recorded at the start of each archive only: the newest value up to the end of the window holds. */
  readonly isConstant?: boolean
}

/** A figure with its computation from the values of `needs` in one bucket, NaN if unknown; counters are rates per second. */
export interface HealthFigure extends FleetFigure {
  readonly needs: readonly NeededMetric[]
  readonly of: (values: readonly number[]) => number
}

/** Seconds over which figures are averaged. */
export const MEAN_SEC = 300

const SEEN_RULE = { lateIntervals: 3, lateSec: 30, staleIntervals: 10, staleSec: 120 }

/** When a host is late or stale. */
export const SEEN: SeenRule = {
  ...SEEN_RULE,
  rule:
    `late without a sample for ${SEEN_RULE.lateIntervals} intervals and ${SEEN_RULE.lateSec} s, ` +
    `stale for ${SEEN_RULE.staleIntervals} intervals and ${SEEN_RULE.staleSec} s`,
}

/** CPU modes; those after the fourth need not be recorded. */
const CPU_MODES = ['idle', 'wait.total', 'user', 'sys', 'nice', 'intr', 'steal']
const REQUIRED_MODES = 4

/** All figures, in the order of the page. */
export const FIGURES: readonly HealthFigure[] = [
  {
    id: 'cpu',
    title: 'CPU',
    rule: 'share of CPU time that is neither idle nor waiting for I/O (kernel.all.cpu)',
    unit: 'share',
    warn: 0.85,
    bad: 0.95,
    needs: CPU_MODES.map((mode) => ({ name: `kernel.all.cpu.${mode}` })),
    of(values) {
      const known = values.map((value, i) => (Number.isNaN(value) && i >= REQUIRED_MODES ? 0 : value))
      const all = known.reduce((sum, value) => sum + value, 0)
      return all > 0 ? 1 - (known[0]! + known[1]!) / all : Number.NaN
    },
  },
  {
    id: 'load',
    title: 'Load per CPU',
    rule: 'load average of one minute by CPUs (kernel.all.load, hinv.ncpu)',
    unit: 'number',
    warn: 1.5,
    bad: 3,
    needs: [
      { name: 'kernel.all.load', instance: '1 minute' },
      { name: 'hinv.ncpu', isConstant: true },
    ],
    of: ([load, cpus]) => load! / cpus!,
  },
  {
    id: 'memory',
    title: 'Memory',
    rule: 'share of memory that is not available (mem.util.available, mem.physmem)',
    unit: 'share',
    warn: 0.9,
    bad: 0.97,
    needs: [{ name: 'mem.util.available' }, { name: 'mem.physmem', isConstant: true }],
    of: ([available, all]) => 1 - available! / all!,
  },
  {
    id: 'disk',
    title: 'Disk full',
    rule: 'the fullest file system (filesys.full)',
    unit: 'share',
    warn: 0.85,
    bad: 0.95,
    needs: [{ name: 'filesys.full', aggregate: 'max' }],
    of: ([full]) => full! / 100,
  },
  {
    id: 'pressure',
    title: 'Pressure',
    rule:
      'share of time in which tasks waited for memory or I/O, the larger one ' +
      '(kernel.all.pressure.memory.some.total, kernel.all.pressure.io.some.total)',
    unit: 'share',
    warn: 0.2,
    bad: 0.5,
    needs: ['memory', 'io'].map((what) => ({
      name: `kernel.all.pressure.${what}.some.total`,
      rawPerBase: 1e6,
    })),
    // The kernel updates these times in steps, so that a second may seem to have more than a second of them.
    of: ([memory, io]) => Math.min(1, Math.max(memory!, io!) / 1e6),
  },
]

/** What all figures need, in their order. */
export const NEEDS: readonly NeededMetric[] = FIGURES.flatMap(({ needs }) => needs)

/** Values of the figures and their states, in the order of `FIGURES`. */
export interface Health {
  readonly values: readonly number[]
  readonly states: readonly FleetState[]
}

export const UNKNOWN_HEALTH: Health = {
  values: FIGURES.map(() => Number.NaN),
  states: FIGURES.map((): FleetState => 'unknown'),
}

/** Judges a host by the values of `NEEDS`. */
export function healthOf(needed: readonly number[]): Health {
  let at = 0
  const values = FIGURES.map(({ needs, of }) => {
    const own = needed.slice(at, at + needs.length)
    at += needs.length
    return of(own)
  })
  return { values, states: FIGURES.map((figure, i) => figureState(figure, values[i]!)) }
}

/** Rounds a value to five digits for an answer; null if it is unknown. */
export function sentValue(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(5)) : null
}

/** Returns facts about figures by their ids. */
export function byFigure<V>(of: readonly V[]): Record<string, V> {
  return Object.fromEntries(FIGURES.map(({ id }, i) => [id, of[i]!]))
}

/** Judges a value of a figure. */
export function figureState({ warn, bad }: Pick<FleetFigure, 'warn' | 'bad'>, value: number): FleetState {
  if (!Number.isFinite(value)) return 'unknown'
  return value >= bad ? 'bad' : value >= warn ? 'warn' : 'ok'
}

/** Judges when a host was last seen: `ok`, `warn` if it is late, `stale`, or `unknown` without a sample. */
export function seenState(last: number | undefined, every: number | undefined, at: number): FleetState {
  if (last === undefined) return 'unknown'
  const age = at - last
  const isOver = (intervals: number, seconds: number): boolean =>
    age > Math.max(seconds, intervals * (every ?? 0))
  if (isOver(SEEN.staleIntervals, SEEN.staleSec)) return 'stale'
  return isOver(SEEN.lateIntervals, SEEN.lateSec) ? 'warn' : 'ok'
}

/** Returns the state of a host: the worst; `ok` only if everything is known, `partial` if some of it is unknown. */
export function hostState(seen: FleetState, figures: readonly FleetState[]): FleetState {
  if (seen === 'stale' || seen === 'unknown') return seen
  const all = [seen, ...figures]
  if (all.includes('bad')) return 'bad'
  if (all.includes('warn')) return 'warn'
  if (figures.every((state) => state === 'unknown')) return 'unknown'
  return figures.includes('unknown') ? 'partial' : 'ok'
}
