/** Programs outside of the browser that follow the page: pmval -g and the like. The clock they share is in pmproxy. docs/pmproxy.md */
import { effect, type Signal, signal } from '@preact/signals'
import type { FollowedClock, LiveStream } from '../data/live.ts'
import type { TimeControl } from './control.ts'

type Kind = FollowedClock['source']

/** A step is this part of what is shown. */
const STEP = 1 / 60
/** The slider is at rest after so long. */
const REST_MS = 150

/** Tells pmproxy what the page does with time while somebody follows, and the page what became of it. */
export class Leader {
  /** How many programs follow hosts, and archives. */
  readonly followers: Signal<Readonly<Record<Kind, number>>> = signal({ host: 0, archive: 0 })
  /** The port they connect to; nothing before the server has said so, or when it has none. */
  readonly port: Signal<number | undefined> = signal(undefined)
  readonly #stream: LiveStream
  readonly #time: TimeControl
  readonly #kind: () => Kind
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #told = new Map<string, string>()
  /** Has the clock been seen to move since it was told to? What it said before says nothing. */
  #hasMoved = false

  /** `kind` reads what the page shows from signals. */
  constructor(stream: LiveStream, time: TimeControl, kind: () => Kind) {
    this.#stream = stream
    this.#time = time
    this.#kind = kind
    stream.onTime = (clock) => this.#hear(clock)
    effect(() => {
      const shown = kind()
      const isFollowed = this.followers.value[shown] > 0
      time.isLed.value = isFollowed && shown === 'archive'
      if (isFollowed) this.#lead(shown)
      else this.#told.clear()
    })
  }

  #lead(kind: Kind): void {
    const { mode, zone, speed, width, frame } = this.#time
    const what = mode.value
    const name = zone.value
    if (name !== '') this.#tell('zone', name, () => this.#send({ do: 'zone', name }))
    if (kind === 'host') this.#tell('mode', what, () => this.#send({ do: what === 'live' ? 'play' : 'stop' }))
    else if (what === 'paused') {
      const position = frame.value.to
      this.#told.delete('mode')
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => {
        this.#send({ do: 'stop' })
        this.#send({ do: 'seek', position })
      }, REST_MS)
    } else
      this.#tell('mode', `${what} ${speed.value} ${width.value}`, () => {
        clearTimeout(this.#timer)
        this.#hasMoved = false
        this.#send({ do: what === 'backward' ? 'reverse' : 'play' })
        this.#send({ do: 'interval', seconds: width.value * STEP })
        this.#send({ do: 'speed', speed: speed.value })
      })
  }

  /** Does something once for each new state of affairs. */
  #tell(about: string, state: string, act: () => void): void {
    if (this.#told.get(about) === state) return
    this.#told.set(about, state)
    act()
  }

  #send(action: Readonly<Record<string, unknown>>): void {
    this.#stream.sendTime({ source: this.#kind(), ...action })
  }

  #hear({ port, source, state, position, followers }: FollowedClock): void {
    this.port.value = port
    if (this.followers.peek()[source] !== followers)
      this.followers.value = { ...this.followers.peek(), [source]: followers }
    if (!this.#time.isLed.peek() || source !== 'archive') return
    const mode = this.#time.mode.peek()
    if (mode !== 'forward' && mode !== 'backward') return
    if (state !== 'stop') this.#hasMoved = true
    if (this.#hasMoved) this.#time.follow(position, state !== 'stop')
  }
}
