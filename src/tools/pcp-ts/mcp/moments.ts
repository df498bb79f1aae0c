/** Times that assistants write, and how answers show them. docs/how-to/charts.md has the syntax. */
import { PcpError } from '../../../model/errors.ts'
import { formatDuration, formatTime, zoneName } from '../../../ui/time/format.ts'
import { readWindow } from '../../../ui/time/read-window.ts'
import type { SourceSpan } from './sources.ts'

/** A window in seconds since the epoch. */
export interface Window {
  readonly from: number
  readonly to: number
}

/** Without a start, a window is the last hour. */
const DEFAULT_SEC = 3600

/** Times in one zone. */
export class Moments {
  readonly #zone: string
  readonly #now: () => number

  /** `zone` is an IANA name, '' for that of this process; `now` returns milliseconds. */
  constructor(zone: string, now: () => number) {
    this.#zone = zone
    this.#now = now
  }

  /** Parses a window of an archive. PM_ERR_ARG with what is wrong. */
  window(from: string | undefined, to: string | undefined, span: SourceSpan): Window {
    const frame = { from: Math.max(span.start, span.end - DEFAULT_SEC), to: span.end }
    const base = { frame, isLive: false, bounds: span, now: this.#now() / 1000, zone: this.#zone }
    try {
      const end = to === undefined ? span.end : readWindow({ from: '', to }, base).to
      const byDefault = { from: Math.max(span.start, end - DEFAULT_SEC), to: end }
      return from === undefined
        ? byDefault
        : readWindow({ from, ...(to === undefined ? {} : { to }) }, { ...base, frame: byDefault })
    } catch (error) {
      throw new PcpError('PM_ERR_ARG', misread(error), { cause: error })
    }
  }

  /** Parses an instant of an archive; its end without a text. PM_ERR_ARG with what is wrong. */
  instant(text: string | undefined, span: SourceSpan): number {
    if (text === undefined) return span.end
    try {
      const base = { isLive: false, bounds: span, now: this.#now() / 1000, zone: this.#zone }
      return readWindow({ from: '', to: text }, { ...base, frame: { from: span.start, to: span.end } }).to
    } catch (error) {
      throw new PcpError('PM_ERR_ARG', misread(error), { cause: error })
    }
  }

  /** Formats a time. */
  text(seconds: number): string {
    return formatTime(seconds, this.#zone)
  }

  /** Formats a window with its length and zone. */
  windowText({ from, to }: Window): string {
    return `${this.text(from)} to ${this.text(to)} (${formatDuration(to - from)}, ${zoneName(this.#zone)})`
  }
}

/** Returns the message of an error with examples of what is understood. */
const misread = (error: unknown): string =>
  `${(error as Error).message}\nwrite for example "2026-11-28 03:10", "03:10" or "-10min"`
