/** The clocks that programs follow, one for hosts and one for archives: actions and the messages they cause. docs/formats/time-control.md */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { addTimes, compareTimes, earlierOf, laterOf, subtractTimes } from '../../time/arithmetic.ts'
import { fromSeconds } from '../../time/stamp.ts'
import {
  type TIME_ARCHIVE,
  TIME_BACKWARD,
  TIME_BOUNDS,
  TIME_FORWARD,
  TIME_HOST,
  TIME_STEP,
  TIME_STOP,
  TIME_TZ,
  TIME_VCRMODE,
  TIME_VCRMODE_DRAG,
  type TimeMessage,
} from '../../wire/time-control.ts'

/** State of a clock. */
export interface Clock {
  readonly source: typeof TIME_HOST | typeof TIME_ARCHIVE
  readonly state: number
  /** Step size. */
  readonly delta: Timestamp
  readonly position: Timestamp
  /** Time span of the archives; undefined before the first one. */
  readonly bounds: { readonly start: Timestamp; readonly end: Timestamp } | undefined
  /** Archive seconds per second. */
  readonly speed: number
}

/** Actions on a clock. */
export type ClockAction =
  | { readonly do: 'play' | 'reverse' | 'stop' | 'tick' | 'drag' }
  | { readonly do: 'step'; readonly direction: 1 | -1 }
  | { readonly do: 'seek'; readonly position: number }
  | { readonly do: 'interval'; readonly seconds: number }
  | { readonly do: 'speed'; readonly speed: number }
  | { readonly do: 'zone'; readonly name: string; readonly label: string }

/** Result of an action. */
export interface ClockChange {
  readonly clock: Clock
  readonly messages: readonly TimeMessage[]
}

const DEFAULT_DELTA_SEC = 2
const NOWHERE: Timestamp = { sec: 0, nsec: 0 }
/** Limits of the speed, in steps per second. */
const SLOWEST = 0.1
const FASTEST = 1000

/** Returns the initial clock: running for hosts, stopped for archives. */
export function newClock(source: Clock['source'], now: Timestamp): Clock {
  return {
    source,
    state: source === TIME_HOST ? TIME_FORWARD : TIME_STOP,
    delta: fromSeconds(DEFAULT_DELTA_SEC),
    position: source === TIME_HOST ? now : NOWHERE,
    bounds: undefined,
    speed: 2 * DEFAULT_DELTA_SEC,
  }
}

/** Returns the milliseconds until the next tick; undefined while stopped. */
export function tickMs({ source, state, delta, speed }: Clock): number | undefined {
  if (state === TIME_STOP) return undefined
  const seconds = toSeconds(delta)
  return Math.max(10, 1000 * (source === TIME_HOST ? seconds : seconds / speed))
}

/** Returns a message with the state of a clock. */
export function messageOf({ source, state, delta, position, bounds }: Clock, command: number): TimeMessage {
  const { start, end } = bounds ?? { start: NOWHERE, end: NOWHERE }
  return { command, source, state, mode: 1, delta, position, start, end }
}

/** Adds a program or an archive: the first follower sets the time, later ones extend the span. */
export function joined(
  clock: Clock,
  { delta, position, start, end }: TimeMessage,
  isFirst: boolean,
): ClockChange {
  if (clock.source === TIME_HOST) {
    const changed = isFirst ? { ...clock, delta: sensible(delta, clock.delta) } : clock
    return { clock: changed, messages: [] }
  }
  const { bounds } = clock
  if (bounds === undefined || isFirst) {
    const step = sensible(delta, clock.delta)
    const changed = {
      ...clock,
      state: TIME_STOP,
      delta: step,
      position,
      bounds: { start, end },
      speed: 2 * toSeconds(step),
    }
    return { clock: changed, messages: [] }
  }
  const wider = { ...clock, bounds: { start: earlierOf(bounds.start, start), end: laterOf(bounds.end, end) } }
  return { clock: wider, messages: [messageOf(wider, TIME_VCRMODE)] }
}

function sensible(delta: Timestamp, otherwise: Timestamp): Timestamp {
  return toSeconds(delta) > 0 ? delta : otherwise
}

/** Applies an action. Actions that a source does not support change nothing. */
export function act(clock: Clock, action: ClockAction, now: Timestamp): ClockChange {
  const isLive = clock.source === TIME_HOST
  const here = isLive ? now : clock.position
  const announced = (change: Partial<Clock>): ClockChange => {
    const changed = { ...clock, position: here, ...change }
    return { clock: changed, messages: [messageOf(changed, TIME_VCRMODE)] }
  }
  switch (action.do) {
    case 'play': {
      const playing = { ...clock, state: TIME_FORWARD, position: here }
      if (isLive) return { clock: playing, messages: [messageOf(playing, TIME_VCRMODE)] }
      return { clock: playing, messages: [messageOf(playing, TIME_STEP)] }
    }
    case 'reverse':
      return isLive ? { clock, messages: [] } : moved({ ...clock, state: TIME_BACKWARD }, -1, false)
    case 'stop':
      return announced({ state: TIME_STOP })
    case 'tick': {
      if (clock.state === TIME_STOP) return { clock, messages: [] }
      if (!isLive) return moved(clock, clock.state === TIME_BACKWARD ? -1 : 1, false)
      const stepped = { ...clock, position: now }
      return { clock: stepped, messages: [messageOf(stepped, TIME_STEP)] }
    }
    case 'drag':
      return isLive ? { clock, messages: [] } : { clock, messages: [messageOf(clock, TIME_VCRMODE_DRAG)] }
    case 'step': {
      if (isLive) return { clock, messages: [] }
      const state = action.direction === 1 ? TIME_FORWARD : TIME_BACKWARD
      const { clock: after, messages } = moved({ ...clock, state }, action.direction, true)
      return { clock: { ...after, state: TIME_STOP }, messages }
    }
    case 'seek':
      return isLive
        ? { clock, messages: [] }
        : announced({ position: within(clock, fromSeconds(action.position)) })
    case 'interval':
      return action.seconds > 0 ? announced({ delta: fromSeconds(action.seconds) }) : { clock, messages: [] }
    case 'speed': {
      const seconds = toSeconds(clock.delta)
      const speed = Math.min(FASTEST * seconds, Math.max(SLOWEST * seconds, action.speed))
      return { clock: { ...clock, speed }, messages: [] }
    }
    case 'zone': {
      const zone = { name: action.name, label: action.label }
      return { clock, messages: [{ ...messageOf(clock, TIME_TZ), zone }] }
    }
  }
}

/** Moves by one step. At the ends of the span the clock stops instead. */
function moved(clock: Clock, direction: 1 | -1, isSingle: boolean): ClockChange {
  const position =
    direction === 1 ? addTimes(clock.position, clock.delta) : subtractTimes(clock.position, clock.delta)
  if (compareTimes(within(clock, position), position) === 0) {
    const stepped = { ...clock, position }
    return { clock: stepped, messages: [messageOf(stepped, TIME_STEP)] }
  }
  const stopped = { ...clock, state: TIME_STOP }
  const bound = messageOf(stopped, TIME_BOUNDS)
  return { clock: stopped, messages: isSingle ? [bound] : [bound, messageOf(stopped, TIME_VCRMODE)] }
}

function within({ bounds }: Clock, position: Timestamp): Timestamp {
  if (bounds === undefined) return position
  if (secondsBetween(bounds.start, position) < 0) return bounds.start
  return secondsBetween(position, bounds.end) < 0 ? bounds.end : position
}
