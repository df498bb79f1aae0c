/** Ages of shown values: legends, tables and bars show the newest value, which may be old. */
import type { ComponentChild } from 'preact'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { sampleFrom } from '../data/line.ts'
import { isOverdue } from '../data/live-store.ts'
import { time } from '../time/control.ts'
import { formatDuration, formatTime } from '../time/format.ts'
import { seconds } from '../time/seconds.ts'
import { newestIndex } from './line-style.ts'

/** Age of a value. */
export interface Age {
  /** Time of the sample, in seconds since the epoch. */
  readonly at: number
  /** Seconds from the sample to the end of the window, or to the end of the source's data. */
  readonly sec: number
  /** Have samples been missed since? */
  readonly isOld: boolean
}

/** Returns the age of the newest value of a line; undefined without a value. */
export function ageOf(data: ChartData, { plot, info, values }: ChartLine): Age | undefined {
  const index = newestIndex(data, values)
  const at = data.times[index]
  if (at === undefined) return undefined
  const end = data.ends.get(plot.source)
  const quiet = end?.quietSec() ?? 0
  const present = Math.min(data.frame.to, (end?.at ?? Infinity) + quiet)
  const sec = Number.isFinite(present) ? Math.max(0, present - at) : 0
  // A recorded discrete value holds until the next record.
  const isHeld = info.sem === 'discrete' && quiet === 0 && end?.every === 0
  const every = Math.max(end?.every ?? 0, spacingAt(data.times, values, index))
  return { at, sec, isOld: !isHeld && isOverdue(sec, every) }
}

/** Returns the lowest age of several lines; it is old only if all of them are. */
export function ageOfAll(data: ChartData, lines: readonly ChartLine[]): Age | undefined {
  const ages = lines.flatMap((line) => ageOf(data, line) ?? [])
  if (ages.length === 0) return undefined
  return { ...ages.reduce((a, b) => (b.sec < a.sec ? b : a)), isOld: ages.every(({ isOld }) => isOld) }
}

/** Formats the lowest age of several lines if all of them are old. Components that call it are redrawn as the values age. */
export function oldText(data: ChartData, lines: readonly ChartLine[]): string | undefined {
  if (isAging(data)) seconds.value
  const age = ageOfAll(data, lines)
  return age?.isOld === true ? ageText(age) : undefined
}

/** Checks whether the chart has live values, whose age grows with time. */
function isAging({ ends }: ChartData): boolean {
  return [...ends.values()].some(({ every }) => every > 0)
}

/** Formats an age: `45 s old, sampled 2026-11-22 10:04:36`. */
function ageText({ at, sec }: Age): string {
  return `${formatDuration(Math.round(sec))} old, sampled ${formatTime(at, time.zone.value)}`
}

/** Returns the seconds between a sample of a line and its predecessor; 0 for the first one. */
function spacingAt(times: readonly number[], values: ChartLine['values'], index: number): number {
  const before = sampleFrom(values, index - 1, -1)
  return before < 0 ? 0 : times[index]! - times[before]!
}

/** Shows the age of a chart's values once samples have been missed. Only this component is redrawn every second. */
export function OldMark({ data }: { readonly data: ChartData }): ComponentChild {
  const old = oldText(data, data.lines)
  if (old === undefined) return null
  return (
    <span class="old-mark" title={old}>
      {old.slice(0, old.indexOf(','))}
    </span>
  )
}
