/** Live values over one WebSocket for the whole page, reopened when it is lost. docs/reference/pmproxy.md */
import { batch, type Signal, signal } from '@preact/signals'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { keyProtocols } from './key.ts'
import type { MetricOutcome } from './responses.ts'
import type { Source } from './source.ts'

/** Values the page wants from one host at one interval. */
export interface LiveRequest {
  readonly host: string
  /** Seconds. */
  readonly every: number
  readonly metrics: readonly string[]
  /** Expressions behind those `metrics` that the page made up. */
  readonly derive: Readonly<Record<string, string>>
}

/** Values of a metric in a row: by instance, or the reason for their absence; null without a reason. */
export type RowValues = readonly (number | null)[] | string | null

/** Receives the rows of a subscription. `metric` is an index into the list passed to `topic`. */
export interface LiveListener {
  topic(metrics: readonly MetricOutcome[], hostname: string): void
  instances(metric: number, ids: readonly number[], names: readonly string[]): void
  /** `isPast`: the server kept the row from before the subscription. */
  row(time: number, values: readonly RowValues[], isPast?: boolean): void
  /** Reports why there are no rows; undefined once there are again. */
  trouble(message: string | undefined): void
}

interface InstancesMessage {
  readonly type: 'insts'
  readonly topic: number
  readonly metric: number
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

interface RowMessage {
  readonly type: 'row'
  readonly topic: number
  readonly time: number
  readonly values: readonly RowValues[]
}

type Message =
  | { type: 'topic'; key: string; topic: number; hostname: string; metrics: readonly MetricOutcome[] }
  | InstancesMessage
  | RowMessage
  | { type: 'past'; topic: number; messages: readonly (InstancesMessage | RowMessage)[] }
  | { type: 'lost'; topic: number; message: string }
  | { type: 'back'; topic: number }
  | { type: 'error'; key?: string; message: string }
  | ({ type: 'time' } & FollowedClock)

/** State of the clock that programs outside of the browser follow. */
export interface FollowedClock {
  /** Port to which programs connect. */
  readonly port: number
  readonly source: 'host' | 'archive'
  readonly state: 'stop' | 'forward' | 'backward'
  /** Seconds since the epoch. */
  readonly position: number
  /** Seconds per step. */
  readonly interval: number
  readonly followers: number
  /** Id of the last message of the page that the server had processed. */
  readonly after: number
}

/** State of the page's connection. */
export type Connection = 'connecting' | 'open' | 'lost'

/** Problem reported while the connection is down. */
export const CONNECTION_LOST = 'Connection to pmproxy lost'
/** State of the connection to pmproxy, shown to the user. */
export const connection: Signal<Connection> = signal<Connection>('connecting')

/** Returns why a source has no values yet. */
export const waitingText = (source: Pick<Source, 'span'> | undefined): string =>
  connection.value === 'lost' && source?.span === undefined ? 'No connection' : 'Waiting for values …'

/** Delays before reconnecting. */
const RETRY_MS = doublingDelays(500, 15_000)

interface Subscription {
  readonly wish: LiveRequest
  readonly listener: LiveListener
  topic: number | undefined
}

/** The live subscriptions of a page. */
export class LiveStream {
  readonly #url: string
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #byTopic = new Map<number, Subscription>()
  #socket: WebSocket | undefined
  readonly #backoff: Backoff
  /** Called with the state of the clock that programs follow. */
  onTime: (clock: FollowedClock) => void = () => {}
  /** Called with the time of a host's newest values, by the host's clock. */
  onRow: (host: string, at: number) => void = () => {}

  /** `random` spreads the reconnects of many pages that lose one server together. */
  constructor(url: string, random: () => number = Math.random) {
    this.#url = url
    this.#backoff = new Backoff({ delaysMs: RETRY_MS, random })
  }

  /** Subscribes under a key, replacing the previous subscription of that key. */
  subscribe(key: string, wish: LiveRequest, listener: LiveListener): void {
    this.#forget(key)
    this.#subscriptions.set(key, { wish, listener, topic: undefined })
    if (this.#socket === undefined) this.#connect()
    else this.#send({ subscribe: key, past: true, ...wish })
  }

  /** Ends the subscription of a key. */
  unsubscribe(key: string): void {
    if (!this.#subscriptions.has(key)) return
    this.#forget(key)
    this.#subscriptions.delete(key)
    this.#send({ unsubscribe: key })
  }

  /** Sends an action on the clock that programs follow. docs/reference/pmproxy.md */
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
      for (const [key, { wish }] of this.#subscriptions) this.#send({ subscribe: key, past: true, ...wish })
    }
    socket.onmessage = ({ data }) => {
      this.#receive(JSON.parse(String(data)) as Message)
    }
    socket.onclose = () => {
      connection.value = 'lost'
      this.#byTopic.clear()
      for (const { listener } of this.#subscriptions.values()) listener.trouble(CONNECTION_LOST)
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
      // Rows of a replaced subscription may still be on their way.
      const subscription = this.#byTopic.get(message.topic)
      const listener = subscription?.listener
      if (message.type === 'past') {
        if (listener !== undefined) batch(() => receivePast(listener, message.messages))
      } else if (message.type === 'insts') listener?.instances(message.metric, message.ids, message.names)
      else if (message.type === 'row') {
        if (subscription !== undefined) this.onRow(subscription.wish.host, message.time)
        listener?.row(message.time, message.values)
      } else listener?.trouble(message.type === 'lost' ? message.message : undefined)
    }
  }
}

/** Charts are drawn once for all of these rows. */
function receivePast(listener: LiveListener, messages: readonly (InstancesMessage | RowMessage)[]): void {
  for (const message of messages)
    if (message.type === 'insts') listener.instances(message.metric, message.ids, message.names)
    else listener.row(message.time, message.values, true)
}
