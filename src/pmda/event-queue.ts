/** A bounded queue of events with a read position for each client. docs/reference/agent-toolkit.md */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { encodeEvents, type NewEventRecord, PM_EVENT_FLAG_MISSED } from '../model/events.ts'
import type { Ask } from '../model/source.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../model/types.ts'

/** Options of an event queue. */
export interface EventQueueOptions<T> {
  /** For the log. */
  readonly name: string
  /** Most bytes of queued events; new events replace the oldest. */
  readonly maxBytes: number
  /** The metric's type: 'event' (default) has timestamps in microseconds, 'highres-event' in nanoseconds. */
  readonly type?: 'event' | 'highres-event'
  /** Returns the size of an event in bytes. */
  readonly sizeOf: (event: T) => number
  /** Converts an event to records when a client fetches it. */
  readonly decode: (event: T, timestamp: Timestamp) => NewEventRecord | readonly NewEventRecord[]
  /** Restricts events to clients with access (`setAccess`) or a filter, for agents that check credentials. */
  readonly needsAccess?: boolean
  /** Logs events that are too large. */
  readonly log?: (level: 'warning', text: string) => void
}

interface QueuedEvent<T> {
  readonly event: T
  readonly timestamp: Timestamp
  readonly bytes: number
}

/** State of a client. Positions count events since the queue was created. */
interface Client<T> {
  /** Position of its next event; undefined before its first fetch. */
  next: number | undefined
  isHidden: ((event: T) => boolean) | undefined
  hasAccess: boolean
}

/**
 * A queue of events. A client gets the events since its last fetch and, if it missed some, a record with their number. Its
 * first fetch returns no events. Events that every client has fetched are dropped; without clients none are kept. Call
 * `endClient` when a client disconnects. @see pmdaEventNewQueue(3), pmdaEventNewClient(3)
 */
export class EventQueue<T> {
  readonly #options: EventQueueOptions<T>
  readonly #clients = new Map<number, Client<T>>()
  /** Kept events, from `#head` on. */
  #kept: (QueuedEvent<T> | undefined)[] = []
  #head = 0
  /** Position of the event at `#head`. */
  #first = 0
  #memory = 0
  #events = 0
  #bytes = 0

  /** PM_ERR_GENERIC unless `maxBytes` is above 0. */
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

  /** Adds an event. An event larger than the whole queue is counted and logged but not kept. @see pmdaEventQueueAppend(3) */
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
   * Returns the value of an event metric for a client: the events it has not had yet, possibly none. A client that was too
   * slow gets one more record with the number of missed events. PM_ERR_PERMISSION as `needsAccess` describes.
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

  /** Hides events from a client if `isHidden` returns true; undefined removes the filter. @see pmdaEventSetFilter(3) */
  setFilter(client: number, isHidden: ((event: T) => boolean) | undefined): void {
    this.#client(client).isHidden = isHidden
  }

  /** Grants or revokes a client's access, for queues with `needsAccess`. @see pmdaEventSetAccess(3) */
  setAccess(client: number, hasAccess: boolean): void {
    this.#client(client).hasAccess = hasAccess
  }

  /** Forgets a client with its filter and access. @see pmdaEventEndClient(3) */
  endClient(client: number): void {
    this.#clients.delete(client)
    this.#letGo()
  }

  /** Drops all events and clients. @see pmdaEventQueueShutdown(3) */
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

  /** Drops the oldest event. */
  #drop(): void {
    this.#memory -= this.#kept[this.#head]!.bytes
    this.#kept[this.#head] = undefined
    this.#head++
    this.#first++
    // Compacting the array rarely keeps each step cheap.
    if (this.#head > 1024 && this.#head * 2 > this.#kept.length) {
      this.#kept = this.#kept.slice(this.#head)
      this.#head = 0
    }
  }

  /** Drops events that every client has fetched. */
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
