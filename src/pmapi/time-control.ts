/** Follows a time control, so that several programs show the same time. pmTimeConnect(3), docs/formats/time-control.md */

import { onAbort } from '../base/on-abort.ts'
import { fromMillis, type Timestamp, toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { TimeConnection } from '../net/time-control.ts'
import { fromSeconds } from '../time/stamp.ts'
import {
  TIME_ARCHIVE,
  TIME_BACKWARD,
  TIME_BOUNDS,
  TIME_CONTROL_PORT,
  TIME_FORWARD,
  TIME_HOST,
  TIME_STEP,
  TIME_TZ,
  TIME_VCRMODE,
  TIME_VCRMODE_DRAG,
  type TimeMessage,
} from '../wire/time-control.ts'
import type { CallOptions, Context } from './context.ts'
import { settingsOf } from './settings.ts'

/** Options of `followTime`. */
export interface FollowTimeOptions extends CallOptions {
  /** Port on this machine. Default: PMTIME_PORT, or 43334, the first port that the control of `npm start` or pmproxy tries. */
  readonly port?: number
  /** Seconds between steps; the first program to connect sets it. Default 1. */
  readonly interval?: number
  /** Time zone offered to other programs, as in TZ, and its display name. Default UTC. */
  readonly zone?: { readonly name: string; readonly label: string }
}

/** An instruction of the time control. */
export type TimeEvent =
  | {
      /** Show this time. The context of an archive has been moved there, ready to fetch. */
      readonly type: 'step'
      readonly position: Timestamp
      /** Seconds from one step to the next. */
      readonly interval: number
      readonly direction: 'forward' | 'backward'
    }
  | {
      /** Time was stopped, started or moved: the next step does not continue the previous one. */
      readonly type: 'stop' | 'play'
      readonly position: Timestamp
      readonly interval: number
    }
  /** A user is dragging the position; no steps until it is released. */
  | { readonly type: 'drag' }
  /** Show times in this zone. */
  | { readonly type: 'zone'; readonly name: string; readonly label: string }
  /** The end of the available range was reached. */
  | { readonly type: 'bound' }

/**
 * Events of a time control as an async iterable, which ends when the control closes. Requesting the next event
 * acknowledges a step; the control sends this program no further step before.
 */
export class TimeFollower implements AsyncIterable<TimeEvent> {
  readonly #context: Context
  readonly #connection: TimeConnection
  readonly #unlink: () => void
  #signal: AbortSignal | undefined

  /** Created by `followTime`. */
  constructor(context: Context, connection: TimeConnection, signal: AbortSignal | undefined) {
    this.#context = context
    this.#connection = connection
    this.#signal = signal
    this.#unlink = onAbort(signal, () => connection.close())
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TimeEvent> {
    this.#connection.showControl()
    try {
      for (;;) {
        const message = await this.#connection.next()
        if (this.#signal?.aborted === true)
          throw new PcpError('ECANCELED', 'Following a time control was canceled', {
            cause: this.#signal.reason,
          })
        if (message === undefined) return
        const event = eventOf(message)
        if (event?.type === 'step') this.#moveTo(event)
        if (event !== undefined) yield event
        if (message.command === TIME_STEP) this.#connection.acknowledge(message.position)
      }
    } finally {
      await this.close()
    }
  }

  /** Stops following. Idempotent; the context stays open. */
  async close(): Promise<void> {
    this.#unlink()
    this.#connection.close()
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #moveTo({ position, interval, direction }: TimeEvent & { readonly type: 'step' }): void {
    const step = direction === 'backward' ? -interval : interval
    this.#context.archive?.setMode('interpolate', position, step)
  }
}

/**
 * Follows the time control of this machine, which the chart page uses, so that a program shows the same time as the page.
 * ECONNREFUSED without a time control, ECANCELED on abort.
 *
 * @see pmTimeConnect(3)
 */
export async function followTime(context: Context, options: FollowTimeOptions = {}): Promise<TimeFollower> {
  const { interval = 1, zone = { name: 'UTC', label: 'UTC' }, signal } = options
  if (!(interval > 0)) throw new PcpError('PM_ERR_ARG', `An interval must be positive: ${interval}`)
  const port = options.port ?? Number(settingsOf()['PMTIME_PORT'] ?? TIME_CONTROL_PORT)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new PcpError('PM_ERR_ARG', `Port ${port} is not between 1 and 65535: set PMTIME_PORT or \`port\``)
  if (signal?.aborted === true)
    throw new PcpError('ECANCELED', 'Following a time control was canceled', { cause: signal.reason })
  const { archive } = context
  const now = fromMillis(Date.now())
  const connection = await TimeConnection.open(port, {
    source: archive === undefined ? TIME_HOST : TIME_ARCHIVE,
    delta: fromSeconds(interval),
    position: archive?.start ?? now,
    start: archive?.start ?? now,
    end: archive?.end() ?? now,
    zone,
  })
  return new TimeFollower(context, connection, signal)
}

/** Converts a message to an event; undefined for messages that followers ignore. */
function eventOf({ command, state, position, delta, zone }: TimeMessage): TimeEvent | undefined {
  const interval = toSeconds(delta)
  switch (command) {
    case TIME_STEP:
      return {
        type: 'step',
        position,
        interval,
        direction: state === TIME_BACKWARD ? 'backward' : 'forward',
      }
    case TIME_VCRMODE:
      return {
        type: state === TIME_FORWARD || state === TIME_BACKWARD ? 'play' : 'stop',
        position,
        interval,
      }
    case TIME_VCRMODE_DRAG:
      return { type: 'drag' }
    case TIME_TZ:
      return zone === undefined ? undefined : { type: 'zone', ...zone }
    case TIME_BOUNDS:
      return { type: 'bound' }
    default:
      return undefined
  }
}
