/** Serves programs that follow the time of the page, as pmtime does for PCP's tools. docs/formats/time-control.md */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setLongTimeout } from '../../base/after.ts'
import { now as present } from '../../base/timestamp.ts'
import { protectDescriptorReserve } from '../../net/listen.ts'
import {
  encodeTimeMessage,
  TIME_ACK,
  TIME_ARCHIVE,
  TIME_BOUNDS,
  TIME_CONTROL_PORT,
  TIME_HOST,
  TIME_STEP,
  TIME_TZ,
  type TimeMessage,
  TimeMessages,
} from '../../wire/time-control.ts'
import {
  act,
  type Clock,
  type ClockAction,
  type ClockChange,
  joined,
  messageOf,
  newClock,
  tickMs,
} from './clock.ts'

/** Number of ports to try. */
const PORTS = 100
const MOST_FOLLOWERS = 100

/** A connected program. */
interface Follower {
  readonly socket: Socket
  source: number | undefined
  /** It was sent a step and has not acknowledged it, so it gets no other step. */
  isStepping: boolean
  /** It has sent something after its introduction, so it has read the answer. */
  isReady: boolean
}

/** Called when a clock or the number of its followers has changed. */
export type TimeListener = (clock: Clock, followers: number) => void

/** A running time control. */
export interface TimeControlServer {
  /** The port of the loopback interface. */
  readonly port: number
  /** Applies an action to the clock of hosts or of archives. */
  act(source: Clock['source'], action: ClockAction): void
  /** Adds a listener, which is called with both clocks immediately. Returns a function that removes it. */
  listen(listener: TimeListener): () => void
  close(): Promise<void>
}

/** Listens on the first free port from `first` on (0 for any); undefined if a hundred ports are in use. */
export async function startTimeControl(
  first: number = TIME_CONTROL_PORT,
): Promise<TimeControlServer | undefined> {
  const times = new Times()
  const server = createServer((socket) => {
    if (!socket.destroyed) times.join(socket)
  })
  protectDescriptorReserve(server)
  for (let port = first; port < first + PORTS; port++)
    if (await isListening(server, port))
      return {
        port: (server.address() as AddressInfo).port,
        act: (source, action) => times.act(source, action),
        listen: (listener) => times.listen(listener),
        close: () =>
          new Promise((resolve) => {
            times.close()
            server.close(() => resolve())
          }),
      }
  return undefined
}

function isListening(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const outcome = (isOpen: boolean) => () => {
      server.removeAllListeners('error').removeAllListeners('listening')
      resolve(isOpen)
    }
    server.once('error', outcome(false)).once('listening', outcome(true))
    server.listen({ host: '127.0.0.1', port })
  })
}

class Times {
  readonly #clocks = new Map<number, Clock>(
    ([TIME_HOST, TIME_ARCHIVE] as const).map((source) => [source, newClock(source, present())]),
  )
  readonly #timers = new Map<number, () => void>()
  /** The last selected zone, for programs that connect later. */
  readonly #zones = new Map<number, TimeMessage['zone']>()
  readonly #followers = new Set<Follower>()
  readonly #listeners = new Set<TimeListener>()

  listen(listener: TimeListener): () => void {
    this.#listeners.add(listener)
    for (const clock of this.#clocks.values()) listener(clock, this.#count(clock.source))
    return () => this.#listeners.delete(listener)
  }

  act(source: Clock['source'], action: ClockAction): void {
    if (action.do === 'zone') this.#zones.set(source, { name: action.name, label: action.label })
    this.#apply(source, act(this.#clocks.get(source)!, action, present()))
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel()
    for (const { socket } of this.#followers) socket.destroy()
  }

  #count(source: number): number {
    let count = 0
    for (const follower of this.#followers) if (follower.source === source) count++
    return count
  }

  #apply(source: Clock['source'], { clock, messages }: ClockChange): void {
    this.#clocks.set(source, clock)
    for (const message of messages)
      for (const follower of this.#followers) if (follower.source === source) this.#send(follower, message)
    this.#schedule(clock)
    for (const listener of this.#listeners) listener(clock, this.#count(source))
  }

  /** Schedules the next tick, if anyone follows. */
  #schedule(clock: Clock): void {
    const { source } = clock
    this.#timers.get(source)?.()
    this.#timers.delete(source)
    const ms = tickMs(clock)
    const isWanted = this.#count(source) > 0 || (source === TIME_ARCHIVE && this.#listeners.size > 0)
    if (ms === undefined || !isWanted) return
    this.#timers.set(
      source,
      setLongTimeout(ms, () => this.act(source, { do: 'tick' })),
    )
  }

  #send(follower: Follower, message: TimeMessage): void {
    if (!follower.isReady) return
    if (message.command === TIME_STEP) {
      if (follower.isStepping) return
      follower.isStepping = true
    } else follower.isStepping = false
    follower.socket.write(encodeTimeMessage(message))
  }

  join(socket: Socket): void {
    if (this.#followers.size >= MOST_FOLLOWERS) {
      socket.destroy()
      return
    }
    const follower: Follower = { socket, source: undefined, isStepping: false, isReady: false }
    this.#followers.add(follower)
    const messages = new TimeMessages()
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#followers.delete(follower)
      if (follower.source !== undefined) this.#tellCount(follower.source)
    })
    socket.on('data', (chunk) => {
      try {
        for (const message of messages.add(chunk)) this.#hear(follower, message)
      } catch {
        socket.destroy() // not a time control client
      }
    })
  }

  #tellCount(source: number): void {
    for (const listener of this.#listeners) listener(this.#clocks.get(source)!, this.#count(source))
  }

  #hear(follower: Follower, message: TimeMessage): void {
    if (follower.source === undefined) {
      this.#greet(follower, message)
      return
    }
    if (!follower.isReady) this.#begin(follower, follower.source)
    if (message.command === TIME_ACK) follower.isStepping = false
    else if (message.command === TIME_BOUNDS) this.#widen(follower.source, message, false)
  }

  #begin(follower: Follower, source: number): void {
    follower.isReady = true
    const zone = this.#zones.get(source)
    if (zone !== undefined) this.#send(follower, { ...messageOf(this.#clocks.get(source)!, TIME_TZ), zone })
  }

  #widen(source: number, message: TimeMessage, isFirst: boolean): void {
    const clock = this.#clocks.get(source)!
    this.#apply(clock.source, joined(clock, message, isFirst))
  }

  #greet(follower: Follower, message: TimeMessage): void {
    const source = message.source === TIME_ARCHIVE ? TIME_ARCHIVE : TIME_HOST
    const isFirst = this.#count(source) === 0
    if (isFirst) this.#zones.delete(source)
    this.#widen(source, message, isFirst)
    follower.source = source
    follower.socket.write(encodeTimeMessage(messageOf(this.#clocks.get(source)!, TIME_ACK)))
    this.#schedule(this.#clocks.get(source)!)
    this.#tellCount(source)
  }
}
