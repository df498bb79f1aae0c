/** The time control that all charts of the page follow. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { WIDEST } from './limits.ts'

/** Is time running, and in which direction? */
export type Mode = 'live' | 'paused' | 'forward' | 'backward'

/** The time window, in seconds since the epoch. */
export interface Frame {
  readonly from: number
  readonly to: number
}

/** Limits of the window. Without `end` it may reach the present. */
export interface Bounds {
  readonly start?: number
  readonly end?: number
}

/** Offered widths of the window, in seconds. */
export const WIDTHS: readonly number[] = [60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400]
/** Offered speeds: archive seconds per second. */
export const SPEEDS: readonly number[] = [1, 2, 5, 10, 30, 60, 300, 900]

/** Most archives cover a day; when an archive is opened, at most its last day is shown. */
const DAY = 86_400
const NARROWEST = 1
/** Size of a step as a share of the window. */
const STEP = 1 / 10

/** Delay of live values that does not indicate a wrong clock. */
const TOLERANCE_SEC = 5

const browserSec = (): number => Date.now() / 1000

/** State of the time control. */
export class TimeControl {
  readonly mode: Signal<Mode> = signal<Mode>('live')
  readonly width: Signal<number> = signal(300)
  readonly speed: Signal<number> = signal(1)
  /** Name of the displayed time zone; '' for the user's own. */
  readonly zone: Signal<string> = signal('')
  readonly bounds: Signal<Bounds> = signal<Bounds>({})
  /** Start of a live window that was chosen by its start: a link to it begins there, though the window moves on. */
  readonly since: Signal<number | undefined> = signal(undefined)
  readonly #end: Signal<number> = signal(browserSec())
  /** The time window of all charts. */
  readonly frame: ReadonlySignal<Frame> = computed(() => {
    const to = this.#end.value
    return { from: to - this.width.value, to }
  })
  /** Another program's clock drives the playback of an archive: `follow`. */
  readonly isRemote: Signal<boolean> = signal(false)
  #ticker: ReturnType<typeof setInterval> | undefined
  #tickedAt = 0
  /** Seconds by which the host's clock is ahead of the browser's. */
  #clockOffsetSec = 0

  constructor() {
    effect(() => {
      const isMoving = this.mode.value !== 'paused'
      clearInterval(this.#ticker)
      if (!isMoving) return
      this.#tickedAt = browserSec()
      this.#ticker = setInterval(() => this.#tick(), this.mode.value === 'live' ? 1000 : 100)
    })
  }

  #tick(): void {
    const before = this.#tickedAt
    this.#tickedAt = browserSec()
    const passed = this.#tickedAt - before
    const mode = this.mode.peek()
    if (mode === 'live') this.#end.value = this.now()
    else if (!this.isRemote.peek()) {
      const wanted = this.#end.peek() + (mode === 'forward' ? 1 : -1) * passed * this.speed.peek()
      this.#moveTo(wanted)
      if (this.#end.peek() !== wanted) this.mode.value = this.#isAtNow() ? 'live' : 'paused'
    }
  }

  #isAtNow(): boolean {
    return this.bounds.peek().end === undefined && this.#end.peek() >= this.now() - 1
  }

  #moveTo(end: number): void {
    const { start = -Infinity, end: last = this.now() } = this.bounds.peek()
    // The window may begin before the data does, so that a fully visible archive can still be played.
    this.#end.value = Math.max(Math.min(end, last), Math.min(last, start + STEP * this.width.peek()))
  }

  /** Returns the present by the clock of the current host. */
  now(): number {
    return browserSec() + this.#clockOffsetSec
  }

  /**
   * Notes the time of a host's newest values. Following the host's clock keeps its charts from running empty; the window ends after these
   * values, which are drawn now instead of with the next tick.
   */
  noteHostTime(at: number): void {
    const ahead = at - browserSec()
    const isOff = Math.abs(ahead - this.#clockOffsetSec) > TOLERANCE_SEC
    if (isOff) this.#clockOffsetSec = Math.abs(ahead) <= TOLERANCE_SEC ? 0 : ahead
    if (this.mode.peek() === 'live' && (isOff || at > this.#end.peek())) this.#end.value = this.now()
  }

  /** Moves to a time of another program's clock; `isMoving` means that clock is running. */
  follow(end: number, isMoving: boolean): void {
    batch(() => {
      this.#moveTo(end)
      if (!isMoving) this.mode.value = 'paused'
    })
  }

  /** Switches to another source: its end, or the present. */
  reset(bounds: Bounds): void {
    batch(() => {
      this.#clockOffsetSec = 0 // until that source sends values
      this.bounds.value = bounds
      this.since.value = undefined
      this.mode.value = bounds.end === undefined ? 'live' : 'paused'
      if (bounds.end !== undefined && bounds.start !== undefined)
        this.width.value = Math.max(NARROWEST, Math.min(bounds.end - bounds.start, DAY))
      this.#end.value = bounds.end ?? this.now()
    })
  }

  /** Follows the present; archives move to their end. */
  goLive(): void {
    batch(() => {
      this.since.value = undefined
      this.mode.value = this.bounds.peek().end === undefined ? 'live' : 'paused'
      this.#moveTo(Infinity)
    })
  }

  pause(): void {
    this.mode.value = 'paused'
  }

  /** Plays from the current position; an archive at its end restarts from its beginning. */
  play(direction: 'forward' | 'backward'): void {
    const { end } = this.bounds.peek()
    batch(() => {
      if (direction === 'forward' && end !== undefined && this.#end.peek() >= end) this.#moveTo(-Infinity)
      this.mode.value = direction === 'forward' && this.#isAtNow() ? 'live' : direction
    })
  }

  /** Pauses, and moves by a tenth of the window. */
  step(direction: 1 | -1): void {
    this.pan(direction * STEP)
  }

  /** Pauses, and moves by `widths` window widths. */
  pan(widths: number): void {
    batch(() => {
      this.mode.value = 'paused'
      this.#moveTo(this.#end.peek() + widths * this.width.peek())
    })
  }

  /** Sets the width in seconds, rounded to milliseconds and limited to what a chart can show. */
  setWidth(seconds: number): void {
    this.since.value = undefined
    this.width.value = Math.min(WIDEST, Math.max(NARROWEST, Math.round(seconds * 1000) / 1000))
  }

  /** Scales the width by `factor`; `at` is the position that stays fixed, from 0 (left) to 1. */
  zoom(factor: number, at = 1): void {
    const before = this.width.peek()
    batch(() => {
      this.setWidth(before * factor)
      if (this.mode.peek() !== 'live') this.#end.value += (1 - at) * (this.width.peek() - before)
      if (this.mode.peek() !== 'live') this.#moveTo(this.#end.peek())
    })
  }

  /** Follows the present with a window of this width; see `since`. */
  showLatest(seconds: number, since?: number): void {
    batch(() => {
      this.setWidth(seconds)
      this.goLive()
      this.since.value = since
    })
  }

  /** Pauses, and shows a window. */
  show(from: number, to: number): void {
    batch(() => {
      this.mode.value = 'paused'
      this.setWidth(to - from)
      this.#moveTo(to)
    })
  }
}

/** The page's time control. */
export const time: TimeControl = new TimeControl()
