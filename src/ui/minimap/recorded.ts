/** All that is recorded of a source in a few points: one line, gaps and reboots. */
import type { ChartRange, ChartRangeColumn } from '../../archive/chart-answer.ts'
import { gapAfter } from '../../archive/chart-interval.ts'
import type { ArchiveInfo, RangeQuery } from '../data/responses.ts'
import type { Frame } from '../time/control.ts'
import type { Plot } from '../view/view.ts'

/** What the minimap draws. */
export interface RecordedLine extends Frame {
  /** What the line shows, for the tooltip. */
  readonly label: string
  readonly times: readonly number[]
  /** From 0 to 1; the highest of several samples. */
  readonly values: readonly number[]
  /** Where nothing was recorded. */
  readonly gaps: readonly Frame[]
  /** Times of the first samples after a reboot. */
  readonly reboots: readonly number[]
}

const [IDLE, CPUS, UPTIME] = ['kernel.all.cpu.idle', 'hinv.ncpu', 'kernel.all.uptime']
/** Points of the line: more than one for each pixel would not be visible. */
export const POINTS = 600
/** Samples further apart than this many points are a gap, unless they always are: in the first minutes a point is a second. */
const GAP_POINTS = 3
/** Share of a point by which the uptime has to fall behind; clocks are not exact. */
const REBOOT_SLACK = 0.5
/** Most marks of each kind; more could not be distinguished. */
const MOST_MARKS = 200

/** Returns the span of the archives that record a host; `history` is the id of their directory, or of one of them. */
export function spanOfHistory(archives: readonly ArchiveInfo[], history: string): Frame | undefined {
  const own = archives.filter(({ id }) => id === history || history === '' || id.startsWith(`${history}/`))
  if (own.length === 0) return undefined
  return { from: Math.min(...own.map(({ start }) => start)), to: Math.max(...own.map(({ end }) => end)) }
}

/** Returns the query for the line: of the CPUs, and of the first metric of the view where they were not recorded. */
export function recordedQuery({ from, to }: Frame, first: Plot | undefined): RangeQuery {
  const names = [IDLE, CPUS, UPTIME, ...(first === undefined ? [] : [first.metric])]
  return {
    names: [...new Set(names)],
    derive: first?.expr === undefined ? {} : { [first.metric]: first.expr },
    start: from,
    finish: to,
    points: POINTS,
  }
}

/** Computes the line from the answer to `recordedQuery`. */
export function recordedLine(answer: ChartRange, span: Frame, first: Plot | undefined): RecordedLine {
  const of = (name: string): readonly ChartRangeColumn[] => {
    const metric = answer.metrics.find((one) => one.name === name)
    return metric === undefined || 'code' in metric ? [] : metric.columns
  }
  const list = (index: number | undefined): readonly number[] =>
    index === undefined ? [] : Array.from(answer.lists[index] ?? [])
  const idle = of(IDLE)[0]
  const cpus = list(of(CPUS)[0]?.values).findLast(Number.isFinite)
  const column = idle ?? (first === undefined ? undefined : of(first.metric)[0])
  const times = list(column?.times)
  const point = (span.to - span.from) / POINTS
  const values =
    idle === undefined
      ? scaled(list(column?.max ?? column?.values))
      : busyOf(list(idle.min ?? idle.values), cpus)
  const known = times.filter((_, i) => Number.isFinite(values[i]))
  const label = idle !== undefined ? 'CPU busy' : (first?.expr ?? first?.metric ?? '')
  const uptime = of(UPTIME)[0]
  return {
    ...span,
    label,
    times,
    values,
    gaps: gapsOf(times, values, span, Math.max(GAP_POINTS * point, gapAfter(known, 0))),
    reboots:
      uptime === undefined ? [] : rebootsOf(list(uptime.times), list(uptime.min ?? uptime.values), point),
  }
}

/** Returns the busy share of all CPUs from their idle time in seconds a second. */
function busyOf(idle: readonly number[], cpus: number | undefined): number[] {
  const all = cpus ?? highest(idle)
  return idle.map((value) => Math.min(1, Math.max(0, 1 - value / all)))
}

function scaled(values: readonly number[]): number[] {
  const most = highest(values)
  return values.map((value) => Math.min(1, Math.max(0, value / most)))
}

function highest(values: readonly number[]): number {
  let most = 0
  for (const value of values) if (value > most) most = value
  return most || 1
}

function gapsOf(
  times: readonly number[],
  values: readonly number[],
  { from, to }: Frame,
  least: number,
): Frame[] {
  const gaps: Frame[] = []
  let last = from
  for (const [i, at] of times.entries()) {
    if (!Number.isFinite(values[i])) continue
    if (at - last > least) gaps.push({ from: last, to: at })
    last = Math.max(last, at)
  }
  if (to - last > least) gaps.push({ from: last, to })
  return gaps.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST_MARKS)
}

/** Returns when the uptime was less than before. With the lowest of several samples, a reboot among them is one step down. */
function rebootsOf(times: readonly number[], uptime: readonly number[], point: number): number[] {
  const reboots: number[] = []
  let before: number | undefined
  for (const [i, seconds] of uptime.entries()) {
    if (!Number.isFinite(seconds)) continue
    if (before !== undefined && seconds < before - REBOOT_SLACK * point) reboots.push(times[i]!)
    before = seconds
  }
  return reboots.slice(-MOST_MARKS)
}

/** Returns the line as an SVG path in a box of this size, and the same closed to the bottom. Gaps interrupt it. */
export function pathsOf(
  { times, values, from, to, gaps }: RecordedLine,
  [width, height]: readonly [number, number],
): { readonly line: string; readonly area: string } {
  let line = ''
  let area = ''
  let isOpen = false
  const ends = new Set(gaps.map((gap) => gap.to))
  let x = 0
  const close = (): void => {
    if (isOpen) area += `L${x.toFixed(1)} ${height}Z`
    isOpen = false
  }
  for (const [i, at] of times.entries()) {
    const value = values[i]!
    if (!Number.isFinite(value) || ends.has(at)) close()
    if (!Number.isFinite(value)) continue
    x = (width * (at - from)) / (to - from)
    const y = (height - 1 - value * (height - 2)).toFixed(1)
    line += `${isOpen ? 'L' : 'M'}${x.toFixed(1)} ${y}`
    area += `${isOpen ? 'L' : `M${x.toFixed(1)} ${height}L`}${x.toFixed(1)} ${y}`
    isOpen = true
  }
  close()
  return { line, area }
}
