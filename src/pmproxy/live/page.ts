/** One page on a live stream: the state it has received, and unsent rows. docs/reference/pmproxy.md */
import type { Statistics } from '../statistics.ts'
import type { Topic } from './topic.ts'

/** Destination of messages. */
export interface Sink {
  /** Sends a message; `sent` is called when it has left this process. */
  send(message: string | Buffer, sent: () => void): void
}

/** Bytes in flight beyond which only the newest row of each topic is kept. */
const MOST_WAITING = 64 * 1024

/** A page. Rows are dropped if it is too slow; other messages are queued. */
export class Page {
  readonly #sink: Sink
  readonly #statistics: Statistics
  /** The newest unsent row of each topic. */
  readonly #waiting = new Map<Topic, Buffer>()
  /** Instance messages the page has received, by topic. */
  readonly #sentInstances = new Map<Topic, (Buffer | undefined)[]>()
  /** Unsent rows from before, by topic; each is made when there is room for it. */
  readonly #pasts = new Map<Topic, () => Buffer | undefined>()
  #bytesInFlight = 0
  /** Has it closed its connection, or lost it? */
  isGone = false

  constructor(sink: Sink, statistics: Statistics) {
    this.#sink = sink
    this.#statistics = statistics
  }

  /** Sends a message that must not be lost. */
  send(message: string | Buffer): void {
    const size = message.length
    this.#bytesInFlight += size
    this.#sink.send(message, () => {
      this.#bytesInFlight -= size
      if (this.#bytesInFlight <= MOST_WAITING / 2) this.#flush()
    })
  }

  /**
   * Sends the kept rows of a topic as one message, as soon as the page has read enough of the others. `message` returns it with all rows until
   * then; undefined without rows.
   */
  sendPast(topic: Topic, message: () => Buffer | undefined): void {
    this.#pasts.set(topic, message)
    this.#flush()
  }

  /** Sends a row, or keeps it instead of the previous unsent one. */
  sendRow(topic: Topic, row: Buffer): void {
    if (this.#pasts.has(topic)) return // it will be among them
    if (this.#bytesInFlight <= MOST_WAITING) this.#send(topic, row)
    else {
      if (this.#waiting.has(topic)) this.#statistics.missedRows++
      this.#waiting.set(topic, row)
    }
  }

  /** Drops the state of a topic, unless it is announced again. */
  forget(topic: Topic): void {
    this.#waiting.delete(topic)
    this.#pasts.delete(topic)
    this.#sentInstances.delete(topic)
  }

  #flush(): void {
    for (const [topic, row] of this.#waiting) {
      if (this.#bytesInFlight > MOST_WAITING) return
      this.#waiting.delete(topic)
      this.#send(topic, row)
    }
    for (const [topic, message] of this.#pasts) {
      if (this.#bytesInFlight > MOST_WAITING) return
      this.#pasts.delete(topic)
      const past = message()
      if (past !== undefined) this.send(past)
    }
  }

  /** Sends a row, unless it refers to instances that have changed since; the next row follows soon. */
  #send(topic: Topic, row: Buffer): void {
    const told = this.#sentInstances.get(topic) ?? []
    const now = topic.instances
    now.forEach((text, m) => {
      if (text === undefined || text === told[m]) return
      told[m] = text
      this.send(text)
    })
    this.#sentInstances.set(topic, told)
    this.#statistics.rows++
    this.send(row)
  }
}
