/** Times that assistants write, and how answers show them. docs/how-to/charts.md has the syntax. */
import { PcpError } from '../../../model/errors.ts'
import { formatDuration, formatTime, zoneName } from '../../../ui/time/format.ts'
import { readMoment, readWindow, type WindowBase } from '../../../ui/time/read-window.ts'
import type { SourceSpan } from './sources.ts'

/** A window in seconds since the epoch. */
export interface Window {
  readonly from: number
  readonly to: number
}

/** Without a start, a window is the last hour. */
const DEFAULT_SEC = 3600
/** Seconds after the end of an archive in which times mean its end: the newest values are written late. */
const UNWRITTEN_SEC = 120

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
    return explained(() => {
      const base = this.#base(span)
      if (from !== undefined) return readWindow({ from, ...(to === undefined ? {} : { to }) }, base)
      const end = to === undefined ? span.end : this.#moment(to, span)
      if (end <= span.start) throw this.#tooEarly(end, span)
      return { from: Math.max(span.start, end - DEFAULT_SEC), to: end }
    })
  }

  /** Parses an instant of an archive; its end without a text. PM_ERR_ARG with what is wrong. */
  instant(text: string | undefined, span: SourceSpan): number {
    if (text === undefined || text.trim() === '') return span.end
    return explained(() => {
      const at = readMoment(text, this.#base(span))
      // Users write whole seconds.
      if (at < Math.floor(span.start)) throw this.#tooEarly(at, span)
      if (at <= span.end + UNWRITTEN_SEC) return Math.min(Math.max(at, span.start), span.end)
      throw new Error(`${this.text(at)} is after the end of the archive (${this.text(span.end)})`)
    })
  }

  /** Parses an end of a window. */
  #moment(text: string, span: SourceSpan): number {
    return text.trim() === '' ? span.end : Math.min(readMoment(text, this.#base(span)), span.end)
  }

  #tooEarly(at: number, { start }: SourceSpan): Error {
    return new Error(`${this.text(at)} is before the archive, which starts at ${this.text(start)}`)
  }

  #base(span: SourceSpan): WindowBase {
    const now = this.#now() / 1000
    return {
      frame: { from: span.start, to: span.end },
      isLive: false,
      bounds: span,
      now,
      zone: this.#zone,
      lastDate: Math.max(span.end, Math.min(now, span.end + UNWRITTEN_SEC)),
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

/** Calls `read`, and adds examples of valid times to its error. PM_ERR_ARG. */
function explained<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const message = `${(error as Error).message}\nwrite for example "2026-11-28 03:10", "03:10" or "-10min"`
    throw new PcpError('PM_ERR_ARG', message, { cause: error })
  }
}
