/** Programs outside of the browser that follow the page: pmval -g and the like. The clock they share is in pmproxy. docs/pmproxy.md */
import { effect, type Signal, signal } from '@preact/signals'
import { connection, type FollowedClock, type LiveStream } from '../data/live.ts'
import type { TimeControl } from './control.ts'
import { zoneName } from './words.ts'

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
  readonly #stream: Pick<LiveStream, 'sendTime' | 'onTime'>
  readonly #time: TimeControl
  #timer: ReturnType<typeof setTimeout> | undefined
  /** What has been told of each matter, to those who follow the kind that is shown. */
  readonly #told = new Map<string, unknown>()
  #ledKind: Kind | undefined
  /** Messages sent so far: what the clock said before it had the last of them says nothing. */
  #sent = 0

  /** `kind` reads what the page shows from signals. */
  constructor(stream: Pick<LiveStream, 'sendTime' | 'onTime'>, time: TimeControl, kind: () => Kind) {
    this.#stream = stream
    this.#time = time
    stream.onTime = (clock) => this.#hear(clock)
    effect(() => {
      const shown = kind()
      const isFollowed = this.followers.value[shown] > 0 && connection.value === 'open'
      time.isLed.value = isFollowed && shown === 'archive'
      clearTimeout(this.#timer)
      const led = isFollowed ? shown : undefined
      if (led !== this.#ledKind) this.#told.clear()
      this.#ledKind = led
      if (led === undefined) return
      this.#leadZone(led)
      if (led === 'host') this.#leadHosts()
      else this.#leadArchives()
    })
  }

  /** Who follows reports in its own zone until a person has chosen another one here. */
  #leadZone(kind: Kind): void {
    const chosen = this.#time.zone.value
    if (chosen === '' && !this.#told.has('zone')) return
    const name = zoneName(chosen)
    this.#tell('zone', name, () => this.#send(kind, { do: 'zone', name }))
  }

  /** Where the page shows the past of a host, time stands for those who can only follow the present. */
  #leadHosts(): void {
    const isLive = this.#time.mode.value === 'live'
    this.#tell('live', isLive, () => this.#send('host', { do: isLive ? 'play' : 'stop' }))
  }

  #leadArchives(): void {
    const { mode, speed, width, frame } = this.#time
    const direction = mode.value
    if (direction === 'paused') {
      const position = frame.value.to
      this.#told.delete('direction')
      this.#timer = setTimeout(() => {
        this.#send('archive', { do: 'stop' })
        this.#send('archive', { do: 'seek', position })
      }, REST_MS)
      return
    }
    const seconds = width.value * STEP
    this.#tell('interval', seconds, () => this.#send('archive', { do: 'interval', seconds }))
    this.#tell('speed', speed.value, () => this.#send('archive', { do: 'speed', speed: speed.value }))
    this.#tell('direction', direction, () => {
      this.#send('archive', { do: 'seek', position: frame.peek().to })
      this.#send('archive', { do: direction === 'backward' ? 'reverse' : 'play' })
    })
  }

  /** Does something once for each new state of affairs. */
  #tell(about: string, state: unknown, act: () => void): void {
    if (this.#told.get(about) === state) return
    this.#told.set(about, state)
    act()
  }

  #send(source: Kind, action: Readonly<Record<string, unknown>>): void {
    this.#stream.sendTime({ source, id: ++this.#sent, ...action })
  }

  #hear({ port, source, state, position, followers, after }: FollowedClock): void {
    this.port.value = port
    if (this.followers.peek()[source] !== followers)
      this.followers.value = { ...this.followers.peek(), [source]: followers }
    if (!this.#time.isLed.peek() || source !== 'archive') return
    const mode = this.#time.mode.peek()
    if (after === this.#sent && (mode === 'forward' || mode === 'backward'))
      this.#time.follow(position, state !== 'stop')
  }
}
