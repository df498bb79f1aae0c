/** Live values: one WebSocket for the whole page, opened again when it is lost. docs/pmproxy.md */
import { type Signal, signal } from '@preact/signals'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import type { MetricOutcome } from './answers.ts'
import { keyProtocols } from './key.ts'

/** What a page wants of one host at one interval. */
export interface Wish {
  readonly host: string
  /** Seconds. */
  readonly every: number
  readonly metrics: readonly string[]
  /** Expressions of those metrics that are the page's own. */
  readonly derive: Readonly<Record<string, string>>
}

/** Values of a metric in a row: by instance, or the reason for their absence; null without one. */
export type RowValues = readonly (number | null)[] | string | null

/** Who hears what comes. `metric` is an index into the list of `topic`. */
export interface LiveListener {
  topic(metrics: readonly MetricOutcome[], hostname: string): void
  instances(metric: number, ids: readonly number[], names: readonly string[]): void
  row(time: number, values: readonly RowValues[]): void
  /** Why there are no rows at present; nothing when there are again. */
  trouble(message: string | undefined): void
}

type Message =
  | { type: 'topic'; key: string; topic: number; hostname: string; metrics: readonly MetricOutcome[] }
  | { type: 'insts'; topic: number; metric: number; ids: readonly number[]; names: readonly string[] }
  | { type: 'row'; topic: number; time: number; values: readonly RowValues[] }
  | { type: 'lost'; topic: number; message: string }
  | { type: 'back'; topic: number }
  | { type: 'error'; key?: string; message: string }
  | ({ type: 'time' } & FollowedClock)

/** The time that programs outside of the browser follow: where it stands, and how many do. */
export interface FollowedClock {
  /** Port that programs connect to. */
  readonly port: number
  readonly source: 'host' | 'archive'
  readonly state: 'stop' | 'forward' | 'backward'
  /** Seconds since the epoch. */
  readonly position: number
  /** Seconds from step to step. */
  readonly interval: number
  readonly followers: number
  /** Id of the page's last message that had been dealt with. */
  readonly after: number
}

/** What becomes of the page's connection. */
export type Connection = 'connecting' | 'open' | 'lost'

/** What is wrong with values that come no longer. */
export const LOST = 'The connection to pmproxy is lost'
/** The page's connection to pmproxy, for the person to see. */
export const connection: Signal<Connection> = signal<Connection>('connecting')

/** Delays after which a lost connection is opened again. */
const RETRY_MS = doublingDelays(500, 15_000)

interface Subscription {
  readonly wish: Wish
  readonly listener: LiveListener
  topic: number | undefined
}

/** The subscriptions of a page. */
export class LiveStream {
  readonly #url: string
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #byTopic = new Map<number, Subscription>()
  #socket: WebSocket | undefined
  readonly #backoff: Backoff
  /** Hears where the time stands that programs follow. */
  onTime: (clock: FollowedClock) => void = () => {}
  /** Hears when a host's newest values are from, by its own clock. */
  onRow: (host: string, at: number) => void = () => {}

  /** `random` spreads the attempts of many pages, which lose one server together. */
  constructor(url: string, random: () => number = Math.random) {
    this.#url = url
    this.#backoff = new Backoff({ delaysMs: RETRY_MS, random })
  }

  /** Asks for values under a key; what was asked under it before is replaced. */
  subscribe(key: string, wish: Wish, listener: LiveListener): void {
    this.#forget(key)
    this.#subscriptions.set(key, { wish, listener, topic: undefined })
    if (this.#socket === undefined) this.#connect()
    else this.#send({ subscribe: key, ...wish })
  }

  /** Ends what was asked under a key. */
  unsubscribe(key: string): void {
    if (!this.#subscriptions.has(key)) return
    this.#forget(key)
    this.#subscriptions.delete(key)
    this.#send({ unsubscribe: key })
  }

  /** Does something with the time that programs follow. docs/pmproxy.md */
  sendTime(action: Readonly<Record<string, unknown>>): void {
    this.#send({ time: action })
  }

  #forget(key: string): void {
    const topic = this.#subscriptions.get(key)?.topic
    if (topic !== undefined) this.#byTopic.delete(topic)
  }

  #send(message: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #connect(): void {
    const socket = new WebSocket(this.#url, keyProtocols())
    this.#socket = socket
    socket.onopen = () => {
      connection.value = 'open'
      this.#backoff.succeeded(performance.now())
      this.sendTime({ do: 'watch' })
      for (const [key, { wish }] of this.#subscriptions) this.#send({ subscribe: key, ...wish })
    }
    socket.onmessage = ({ data }) => {
      this.#receive(JSON.parse(String(data)) as Message)
    }
    socket.onclose = () => {
      connection.value = 'lost'
      this.#byTopic.clear()
      for (const { listener } of this.#subscriptions.values()) listener.trouble(LOST)
      setTimeout(() => this.#connect(), this.#backoff.failed(performance.now()))
    }
  }

  #receive(message: Message): void {
    if (message.type === 'topic') {
      const subscription = this.#subscriptions.get(message.key)
      if (subscription === undefined) return
      this.#forget(message.key)
      subscription.topic = message.topic
      this.#byTopic.set(message.topic, subscription)
      subscription.listener.topic(message.metrics, message.hostname)
    } else if (message.type === 'time') this.onTime(message)
    else if (message.type === 'error') {
      if (message.key !== undefined) this.#subscriptions.get(message.key)?.listener.trouble(message.message)
    } else {
      // Rows of a list that was replaced may still be on their way.
      const subscription = this.#byTopic.get(message.topic)
      const listener = subscription?.listener
      if (message.type === 'insts') listener?.instances(message.metric, message.ids, message.names)
      else if (message.type === 'row') {
        if (subscription !== undefined) this.onRow(subscription.wish.host, message.time)
        listener?.row(message.time, message.values)
      } else listener?.trouble(message.type === 'lost' ? message.message : undefined)
    }
  }
}
