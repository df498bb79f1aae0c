/** How old the readings of a chart are: beside legends, tables and bars, which show the newest value there is. */
import type { ComponentChild } from 'preact'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { sampleFrom } from '../data/line.ts'
import { isOverdue } from '../data/live-store.ts'
import { time } from '../time/control.ts'
import { seconds } from '../time/seconds.ts'
import { momentText, spanText } from '../time/words.ts'
import { newestIndex } from './line-look.ts'

/** The age of a reading. */
export interface Age {
  /** When it was sampled, in seconds since the epoch. */
  readonly at: number
  /** Seconds from then to the end of what is shown, or of what the source has. */
  readonly sec: number
  /** Have samples been missed since? */
  readonly isOld: boolean
}

/** The age of the newest reading of a line; undefined without one. */
export function ageOf(data: ChartData, { plot, info, values }: ChartLine): Age | undefined {
  const index = newestIndex(data, values)
  const at = data.times[index]
  if (at === undefined) return undefined
  const end = data.ends.get(plot.source)
  const quiet = end?.quietSec() ?? 0
  const present = Math.min(data.frame.to, (end?.at ?? Infinity) + quiet)
  const sec = Number.isFinite(present) ? Math.max(0, present - at) : 0
  // A recorded value that changes seldom holds until the next record.
  const isHeld = info.sem === 'discrete' && quiet === 0 && end?.every === 0
  const every = Math.max(end?.every ?? 0, spacingAt(data.times, values, index))
  return { at, sec, isOld: !isHeld && isOverdue(sec, every) }
}

/** The age of the newest of several lines, old if all are. */
export function ageOfAll(data: ChartData, lines: readonly ChartLine[]): Age | undefined {
  const ages = lines.flatMap((line) => ageOf(data, line) ?? [])
  if (ages.length === 0) return undefined
  return { ...ages.reduce((a, b) => (b.sec < a.sec ? b : a)), isOld: ages.every(({ isOld }) => isOld) }
}

/** The age of the newest of several lines for people, where all of them are old. What reads it is drawn again as they age. */
export function oldText(data: ChartData, lines: readonly ChartLine[]): string | undefined {
  if (isAging(data)) seconds.value
  const age = ageOfAll(data, lines)
  return age?.isOld === true ? ageText(age) : undefined
}

/** Does a chart show values that grow old as time passes? */
function isAging({ ends }: ChartData): boolean {
  return [...ends.values()].some(({ every }) => every > 0)
}

/** An age for people: `45 s old, of 2026-11-22 10:04:36`. */
function ageText({ at, sec }: Age): string {
  return `${spanText(Math.round(sec))} old, of ${momentText(at, time.zone.value)}`
}

/** Seconds between a sample of a line and the one before it; 0 for its first. */
function spacingAt(times: readonly number[], values: ChartLine['values'], index: number): number {
  const before = sampleFrom(values, index - 1, -1)
  return before < 0 ? 0 : times[index]! - times[before]!
}

/** Shows how old the readings of a chart are, once samples have been missed. It alone is drawn again each second. */
export function OldMark({ data }: { readonly data: ChartData }): ComponentChild {
  const old = oldText(data, data.lines)
  if (old === undefined) return null
  return (
    <span class="old-mark" title={old}>
      {old.slice(0, old.indexOf(','))}
    </span>
  )
}
