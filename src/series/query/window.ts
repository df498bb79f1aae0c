/** Windows of queries and of /series/values: texts to times. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { parseInterval } from '../../time/interval.ts'
import { fromSeconds } from '../../time/stamp.ts'
import { parseTimeArgument } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import type { SampleWindow } from '../store.ts'
import type { WindowTexts } from './syntax.ts'

/** Clock and zone of relative times and dates. */
export interface WindowClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly zone: Zone
  /** Finds the zone of a `timezone` in a window; undefined for an unknown name. */
  readonly zoneOf?: (name: string) => Zone | undefined
}

/**
 * Returns the window of texts; without any, that of the latest sample. `isOption`: messages name the parameter. EINVAL with the text and a
 * caret for a time or interval that cannot be read.
 */
export function windowOf(texts: WindowTexts, clock: WindowClock, isOption = false): SampleWindow {
  const { samples, interval, start, finish, range } = texts
  const zone = (texts.zone === undefined ? undefined : clock.zoneOf?.(texts.zone)) ?? clock.zone
  const now = clock.now()
  if (samples !== undefined && !/^\d{1,9}$/.test(samples))
    throw new PcpError('EINVAL', `Invalid sample count requested - ${samples}`)
  const time = (text: string, what: string): Timestamp => timeOf(text, isOption ? ` ${what}` : '', now, zone)
  const seconds = (text: string): number => {
    const { sec, nsec } = orInvalid('Cannot parse time delta with pmParseInterval', () => parseInterval(text))
    return sec + nsec / 1e9
  }
  const isLatest = [samples, interval, start, finish, range].every((each) => each === undefined)
  return {
    samples: isLatest ? 1 : samples === undefined ? undefined : Number(samples),
    interval: interval === undefined ? undefined : seconds(interval),
    start:
      start !== undefined
        ? time(start, 'start')
        : range === undefined
          ? undefined
          : fromSeconds(now / 1000 - seconds(range)),
    finish: finish === undefined ? undefined : time(finish, 'end'),
  }
}

function timeOf(text: string, what: string, now: number, zone: Zone): Timestamp {
  if (/^\s*\d+(?:\.\d*)?\s*$/.test(text)) return fromSeconds(Number(text))
  return orInvalid(`Cannot parse time${what} with __pmtimespecParse`, () =>
    parseTimeArgument(text, {
      start: { sec: Math.floor(now / 1000), nsec: 0 },
      end: FOREVER,
      now: Math.floor(now / 1000),
      zone,
    }),
  )
}

function orInvalid<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new PcpError('EINVAL', `${what}:\n${error.message}\n`, { cause: error })
  }
}

/** Is the order of the samples newest first? */
export function isNewestFirst({ samples, interval, start, finish }: SampleWindow): boolean {
  return samples !== undefined && interval === undefined && start === undefined && finish === undefined
}

/**
 * Goals of samples at an interval: the last sample before each goal is taken; a goal that lags by more than two intervals is set to
 * one after the next sample.
 */
export class Goals {
  readonly #interval: number
  #goal: number | undefined

  /** `start` in seconds, if there is one; otherwise the first sample is the first goal. */
  constructor(interval: number, start: number | undefined) {
    this.#interval = interval
    this.#goal = start
  }

  /** Returns whether the sample at `time` is taken, if the one after it is at `next`. */
  takes(time: number, next: number | undefined): boolean {
    this.#goal ??= time
    if (next !== undefined && next <= this.#goal) return false
    this.#goal += this.#interval
    if (next !== undefined && next - this.#goal > 2 * this.#interval) this.#goal = next + this.#interval
    return true
  }
}
