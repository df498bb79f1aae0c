/** Events that clients fetch when they please: a queue with a bound, and a position for each client. docs/agents.md */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { encodeEvents, type NewEventRecord, PM_EVENT_FLAG_MISSED } from '../model/events.ts'
import type { Ask } from '../model/source.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../model/types.ts'

/** How a queue is made. */
export interface EventQueueOptions<T> {
  /** For the log. */
  readonly name: string
  /** Bytes of events that are kept; the oldest are given up for new ones. */
  readonly maxBytes: number
  /** The metric's type: 'event' (default) has microseconds, 'highres-event' nanoseconds. */
  readonly type?: 'event' | 'highres-event'
  /** Bytes an event takes. */
  readonly sizeOf: (event: T) => number
  /** The records that an event becomes, when a client fetches it. */
  readonly decode: (event: T, timestamp: Timestamp) => NewEventRecord | readonly NewEventRecord[]
  /** Only clients that were given access, or that have a filter, see events: for agents that check who somebody is. */
  readonly needsAccess?: boolean
  /** Hears of events that are too large. */
  readonly log?: (level: 'warning', text: string) => void
}

interface Kept<T> {
  readonly event: T
  readonly timestamp: Timestamp
  readonly bytes: number
}

/** What is known of a client. Positions count events since the queue was made. */
interface Client<T> {
  /** The next event it will get; undefined before its first fetch. */
  next: number | undefined
  isHidden: ((event: T) => boolean) | undefined
  hasAccess: boolean
}

/**
 * A queue of events. A client gets the events since its last fetch, and a record that says how many it missed; it begins
 * with its first fetch, which has none. Events that every client has had are let go, and without clients none are kept.
 * Give `endClient` the clients that went away. @see pmdaEventNewQueue(3), pmdaEventNewClient(3)
 */
export class EventQueue<T> {
  readonly #options: EventQueueOptions<T>
  readonly #clients = new Map<number, Client<T>>()
  /** Kept events from `#head` on; those before are gone. */
  #kept: (Kept<T> | undefined)[] = []
  #head = 0
  /** Position of the event at `#head`. */
  #first = 0
  #memory = 0
  #events = 0
  #bytes = 0

  /** PM_ERR_GENERIC for a bound that is not above 0. */
  constructor(options: EventQueueOptions<T>) {
    if (!(options.maxBytes > 0))
      throw new PcpError('PM_ERR_GENERIC', `Event queue ${options.name}: maxBytes must be above 0`)
    this.#options = options
  }

  /** Events appended so far. @see pmdaEventQueueCounter(3) */
  get events(): number {
    return this.#events
  }

  /** Bytes of all events appended so far. @see pmdaEventQueueBytes(3) */
  get bytes(): number {
    return this.#bytes
  }

  /** Bytes of the events that are kept. @see pmdaEventQueueMemory(3) */
  get memory(): number {
    return this.#memory
  }

  /** Clients that have fetched. @see pmdaEventQueueClients(3) */
  get clients(): number {
    let count = 0
    for (const { next } of this.#clients.values()) if (next !== undefined) count++
    return count
  }

  /** Adds an event. One larger than the whole queue is counted and told in the log, but not kept. @see pmdaEventQueueAppend(3) */
  append(event: T, timestamp: Timestamp): void {
    const { name, maxBytes, sizeOf, log } = this.#options
    const bytes = sizeOf(event)
    this.#events++
    this.#bytes += bytes
    if (bytes > maxBytes) {
      log?.('warning', `${name}: an event of ${bytes} bytes is larger than the queue (${maxBytes}): dropped`)
      return
    }
    if (this.clients === 0) return
    while (this.#memory + bytes > maxBytes) this.#drop()
    this.#kept.push({ event, timestamp, bytes })
    this.#memory += bytes
  }

  /**
   * What the client that asks has not had yet: the value of an event metric, which may have no records. A client that was
   * too slow gets one more record, of how many events it missed. PM_ERR_PERMISSION as `needsAccess` says.
   * @see pmdaEventQueueRecords(3)
   */
  records(ask: Ask): Uint8Array {
    const { name, needsAccess = false, type = 'event', decode } = this.#options
    const client = this.#client(ask.requester.client)
    const end = this.#first + this.#kept.length - this.#head
    const next = client.next ?? end
    client.next = end
    if (needsAccess && !client.hasAccess && client.isHidden === undefined)
      throw new PcpError('PM_ERR_PERMISSION', `${name}: this client was not given access to the events`)
    const records: NewEventRecord[] = []
    for (let at = Math.max(next, this.#first); at < end; at++) {
      const { event, timestamp } = this.#kept[this.#head + at - this.#first]!
      if (client.isHidden?.(event) === true) continue
      const decoded = decode(event, timestamp)
      if (isSeveral(decoded)) records.push(...decoded)
      else records.push(decoded)
    }
    const missed = this.#first - next
    if (missed > 0) records.push(missedRecord(missed, this.#kept[this.#head]?.timestamp))
    this.#letGo()
    return encodeEvents(type === 'event' ? PM_TYPE_EVENT : PM_TYPE_HIGHRES_EVENT, records)
  }

  /** Hides the events from a client for which `isHidden` says so; undefined shows all again. @see pmdaEventSetFilter(3) */
  setFilter(client: number, isHidden: ((event: T) => boolean) | undefined): void {
    this.#client(client).isHidden = isHidden
  }

  /** Lets a client see events, or not, where `needsAccess` asks for it. @see pmdaEventSetAccess(3) */
  setAccess(client: number, hasAccess: boolean): void {
    this.#client(client).hasAccess = hasAccess
  }

  /** Forgets a client, its filter and its access. @see pmdaEventEndClient(3) */
  endClient(client: number): void {
    this.#clients.delete(client)
    this.#letGo()
  }

  /** Lets all events and clients go. @see pmdaEventQueueShutdown(3) */
  clear(): void {
    this.#clients.clear()
    this.#letGo()
  }

  #client(number: number): Client<T> {
    let client = this.#clients.get(number)
    if (client === undefined) {
      client = { next: undefined, isHidden: undefined, hasAccess: false }
      this.#clients.set(number, client)
    }
    return client
  }

  /** Lets the oldest event go. */
  #drop(): void {
    this.#memory -= this.#kept[this.#head]!.bytes
    this.#kept[this.#head] = undefined
    this.#head++
    this.#first++
    // Moving what is left once in a while keeps each step cheap.
    if (this.#head > 1024 && this.#head * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#head)
      this.#head = 0
    }
  }

  /** Lets events go that every client has had. */
  #letGo(): void {
    let oldest = this.#first + this.#kept.length - this.#head
    for (const { next } of this.#clients.values()) oldest = Math.min(oldest, next ?? oldest)
    while (this.#first < oldest) this.#drop()
  }
}

function missedRecord(missed: number, timestamp: Timestamp = { sec: 0, nsec: 0 }): NewEventRecord {
  return { timestamp, flags: PM_EVENT_FLAG_MISSED, missed, params: [] }
}

function isSeveral(
  records: NewEventRecord | readonly NewEventRecord[],
): records is readonly NewEventRecord[] {
  return Array.isArray(records)
}
