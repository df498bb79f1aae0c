/** Lets programs such as pmval -g follow the page's time, through a clock in pmproxy. docs/reference/pmproxy.md */
import { effect, type Signal, signal } from '@preact/signals'
import { connection, type FollowedClock, type LiveStream } from '../data/live.ts'
import type { TimeControl } from './control.ts'
import { zoneName } from './format.ts'

type Kind = FollowedClock['source']

/** Size of a step as a share of the window. */
const STEP = 1 / 60
/** Milliseconds without movement after which the slider counts as at rest. */
const REST_MS = 150

/** Sends changes of the page's time to pmproxy while programs follow it, and applies their changes to the page. */
export class TimeLeader {
  /** Number of programs that follow hosts and archives. */
  readonly followers: Signal<Readonly<Record<Kind, number>>> = signal({ host: 0, archive: 0 })
  /** Port to which they connect; undefined until the server reports it, or if it has none. */
  readonly port: Signal<number | undefined> = signal(undefined)
  readonly #stream: Pick<LiveStream, 'sendTime' | 'onTime'>
  readonly #time: TimeControl
  #timer: ReturnType<typeof setTimeout> | undefined
  /** State last sent for each topic, to the followers of the shown kind. */
  readonly #lastSent = new Map<string, unknown>()
  #ledKind: Kind | undefined
  /** Messages sent so far. A clock state from before the server processed the last one is outdated. */
  #sent = 0

  /** `kind` derives the kind of the current source from signals. */
  constructor(stream: Pick<LiveStream, 'sendTime' | 'onTime'>, time: TimeControl, kind: () => Kind) {
    this.#stream = stream
    this.#time = time
    stream.onTime = (clock) => this.#apply(clock)
    effect(() => {
      const shown = kind()
      const isFollowed = this.followers.value[shown] > 0 && connection.value === 'open'
      time.isRemote.value = isFollowed && shown === 'archive'
      clearTimeout(this.#timer)
      const led = isFollowed ? shown : undefined
      if (led !== this.#ledKind) this.#lastSent.clear()
      this.#ledKind = led
      if (led === undefined) return
      this.#leadZone(led)
      if (led === 'host') this.#leadHosts()
      else this.#leadArchives()
    })
  }

  /** Followers report in their own time zone until the user selects one on the page. */
  #leadZone(kind: Kind): void {
    const chosen = this.#time.zone.value
    if (chosen === '' && !this.#lastSent.has('zone')) return
    const name = zoneName(chosen)
    this.#sendOnChange('zone', name, () => this.#send(kind, { do: 'zone', name }))
  }

  /** Stops the clock of host followers while the page shows the past, because they can only follow the present. */
  #leadHosts(): void {
    const isLive = this.#time.mode.value === 'live'
    this.#sendOnChange('live', isLive, () => this.#send('host', { do: isLive ? 'play' : 'stop' }))
  }

  #leadArchives(): void {
    const { mode, speed, width, frame } = this.#time
    const direction = mode.value
    if (direction === 'paused') {
      const position = frame.value.to
      this.#lastSent.delete('direction')
      this.#timer = setTimeout(() => {
        this.#send('archive', { do: 'stop' })
        this.#send('archive', { do: 'seek', position })
      }, REST_MS)
      return
    }
    const seconds = width.value * STEP
    this.#sendOnChange('interval', seconds, () => this.#send('archive', { do: 'interval', seconds }))
    this.#sendOnChange('speed', speed.value, () => this.#send('archive', { do: 'speed', speed: speed.value }))
    this.#sendOnChange('direction', direction, () => {
      this.#send('archive', { do: 'seek', position: frame.peek().to })
      this.#send('archive', { do: direction === 'backward' ? 'reverse' : 'play' })
    })
  }

  /** Calls `act` once for each new state of a topic. */
  #sendOnChange(about: string, state: unknown, act: () => void): void {
    if (this.#lastSent.get(about) === state) return
    this.#lastSent.set(about, state)
    act()
  }

  #send(source: Kind, action: Readonly<Record<string, unknown>>): void {
    this.#stream.sendTime({ source, id: ++this.#sent, ...action })
  }

  #apply({ port, source, state, position, followers, after }: FollowedClock): void {
    this.port.value = port
    if (this.followers.peek()[source] !== followers)
      this.followers.value = { ...this.followers.peek(), [source]: followers }
    if (!this.#time.isRemote.peek() || source !== 'archive') return
    const mode = this.#time.mode.peek()
    if (after === this.#sent && (mode === 'forward' || mode === 'backward'))
      this.#time.follow(position, state !== 'stop')
  }
}
