/** The one control of time that all charts of the page follow. PCP's tools know it as their time control. */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'

/** Does time go on, and which way? */
export type Mode = 'live' | 'paused' | 'forward' | 'backward'

/** What is shown, in seconds since the epoch. */
export interface Frame {
  readonly from: number
  readonly to: number
}

/** What can be shown. `end` absent: up to now. */
export interface Bounds {
  readonly start?: number
  readonly end?: number
}

/** The widths that are offered, in seconds. */
export const WIDTHS: readonly number[] = [60, 300, 900, 3600, 6 * 3600, 86_400, 7 * 86_400]
/** The speeds that are offered: seconds of the archive a second. */
export const SPEEDS: readonly number[] = [1, 2, 5, 10, 30, 60, 300, 900]

/** An archive is mostly one of a day: that much of its end is shown when it is opened. */
const DAY = 86_400
const NARROWEST = 1
const WIDEST = 366 * 86_400
/** A step is this part of what is shown. */
const STEP = 1 / 10

/** Values come that much late without anybody's clock being wrong. */
const TOLERANCE_SEC = 5

const browserSec = (): number => Date.now() / 1000

/** The state of the control. */
export class TimeControl {
  readonly mode: Signal<Mode> = signal<Mode>('live')
  readonly width: Signal<number> = signal(300)
  readonly speed: Signal<number> = signal(1)
  /** Name of the zone times are shown in; empty: the reader's own. */
  readonly zone: Signal<string> = signal('')
  readonly bounds: Signal<Bounds> = signal<Bounds>({})
  readonly #end: Signal<number> = signal(browserSec())
  /** What all charts show. */
  readonly frame: ReadonlySignal<Frame> = computed(() => {
    const to = this.#end.value
    return { from: to - this.width.value, to }
  })
  /** Somebody else's clock says how an archive goes on: `follow`. */
  readonly isLed: Signal<boolean> = signal(false)
  #ticker: ReturnType<typeof setInterval> | undefined
  #tickedAt = 0
  /** Seconds by which the clock of the host is ahead of the reader's. */
  #ahead = 0

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
    else if (!this.isLed.peek()) {
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
    // What is shown may begin before there is anything: an archive that is seen whole can be played all the same.
    this.#end.value = Math.max(Math.min(end, last), Math.min(last, start + STEP * this.width.peek()))
  }

  /** The present, by the clock of the host that is shown. */
  now(): number {
    return browserSec() + this.#ahead
  }

  /** Values of that host came that are from this moment: charts of another present than its own would be empty. */
  hear(at: number): void {
    const ahead = at - browserSec()
    if (Math.abs(ahead - this.#ahead) <= TOLERANCE_SEC) return
    this.#ahead = Math.abs(ahead) <= TOLERANCE_SEC ? 0 : ahead
    if (this.mode.peek() === 'live') this.#end.value = this.now()
  }

  /** The clock of an archive stands here; `isMoving` says whether it goes on by itself. */
  follow(end: number, isMoving: boolean): void {
    batch(() => {
      this.#moveTo(end)
      if (!isMoving) this.mode.value = 'paused'
    })
  }

  /** Shows another source: its end, or the present. */
  reset(bounds: Bounds): void {
    batch(() => {
      this.#ahead = 0 // until that source is heard
      this.bounds.value = bounds
      this.mode.value = bounds.end === undefined ? 'live' : 'paused'
      if (bounds.end !== undefined && bounds.start !== undefined)
        this.width.value = Math.max(NARROWEST, Math.min(bounds.end - bounds.start, DAY))
      this.#end.value = bounds.end ?? this.now()
    })
  }

  /** Follows the present; an archive goes to its end. */
  goLive(): void {
    batch(() => {
      this.mode.value = this.bounds.peek().end === undefined ? 'live' : 'paused'
      this.#moveTo(Infinity)
    })
  }

  pause(): void {
    this.mode.value = 'paused'
  }

  /** Plays from where it stands; an archive that is at its end from the start. */
  play(direction: 'forward' | 'backward'): void {
    const { end } = this.bounds.peek()
    batch(() => {
      if (direction === 'forward' && end !== undefined && this.#end.peek() >= end) this.#moveTo(-Infinity)
      this.mode.value = direction === 'forward' && this.#isAtNow() ? 'live' : direction
    })
  }

  /** Pauses, and goes on by a tenth of what is shown. */
  step(direction: 1 | -1): void {
    this.pan(direction * STEP)
  }

  /** Pauses, and goes on by so many widths. */
  pan(widths: number): void {
    batch(() => {
      this.mode.value = 'paused'
      this.#moveTo(this.#end.peek() + widths * this.width.peek())
    })
  }

  /** Shows so many seconds, to the millisecond, as far as a chart can. */
  setWidth(seconds: number): void {
    this.width.value = Math.min(WIDEST, Math.max(NARROWEST, Math.round(seconds * 1000) / 1000))
  }

  /** Shows `factor` times as much; `at` is the moment that stays where it is, from 0 (left) to 1. */
  zoom(factor: number, at = 1): void {
    const before = this.width.peek()
    batch(() => {
      this.setWidth(before * factor)
      if (this.mode.peek() !== 'live') this.#end.value += (1 - at) * (this.width.peek() - before)
      if (this.mode.peek() !== 'live') this.#moveTo(this.#end.peek())
    })
  }

  /** Follows the present, and shows so many seconds up to it. */
  showLatest(seconds: number): void {
    batch(() => {
      this.setWidth(seconds)
      this.goLive()
    })
  }

  /** Pauses, and shows what is between two moments. */
  show(from: number, to: number): void {
    batch(() => {
      this.mode.value = 'paused'
      this.setWidth(to - from)
      this.#moveTo(to)
    })
  }
}

/** The page's control. */
export const time: TimeControl = new TimeControl()
