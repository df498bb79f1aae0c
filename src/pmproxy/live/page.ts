/** One page at the other end of a live stream: what it has been told, and what waits for it. docs/pmproxy.md */
import type { Statistics } from '../statistics.ts'
import type { Topic } from './topic.ts'

/** Where messages go. */
export interface Sink {
  /** Sends a message; `sent` is called when it has left this process. */
  send(message: string | Buffer, sent: () => void): void
}

/** Bytes under way beyond which a page gets no more rows than one a topic. */
const MOST_WAITING = 64 * 1024

/** A page. Rows that it is too slow for are lost, anything else waits for it. */
export class Page {
  readonly #sink: Sink
  readonly #statistics: Statistics
  /** The newest row of topics that could not be sent. */
  readonly #waiting = new Map<Topic, Buffer>()
  /** What the page knows of instances, by topic. */
  readonly #told = new Map<Topic, (Buffer | undefined)[]>()
  #underWay = 0

  constructor(sink: Sink, statistics: Statistics) {
    this.#sink = sink
    this.#statistics = statistics
  }

  /** Sends what may not get lost. */
  tell(message: string | Buffer): void {
    const size = message.length
    this.#underWay += size
    this.#sink.send(message, () => {
      this.#underWay -= size
      if (this.#underWay <= MOST_WAITING / 2) this.#flush()
    })
  }

  /** Sends a row, or keeps it in place of the one before it. */
  offer(topic: Topic, row: Buffer): void {
    if (this.#underWay <= MOST_WAITING) this.#send(topic, row)
    else {
      if (this.#waiting.has(topic)) this.#statistics.missedRows++
      this.#waiting.set(topic, row)
    }
  }

  /** Nothing of this topic any more, unless it is announced again. */
  forget(topic: Topic): void {
    this.#waiting.delete(topic)
    this.#told.delete(topic)
  }

  #flush(): void {
    for (const [topic, row] of this.#waiting) {
      if (this.#underWay > MOST_WAITING) return
      this.#waiting.delete(topic)
      this.#send(topic, row)
    }
  }

  /** A row that waited may be of instances that have changed since: then it is not sent, for the next one comes soon. */
  #send(topic: Topic, row: Buffer): void {
    const told = this.#told.get(topic) ?? []
    const now = topic.instances
    now.forEach((text, m) => {
      if (text === undefined || text === told[m]) return
      told[m] = text
      this.tell(text)
    })
    this.#told.set(topic, told)
    this.#statistics.rows++
    this.tell(row)
  }
}
