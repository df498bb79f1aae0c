/**
 * The event trace: the last connections and PDUs, kept in a ring and written when somebody asks or an agent goes. pmcd(1) -T
 *
 *     ->PMCD event trace: starting at Fri Nov 20 09:22:49 2026
 *     ->         Recv: PROFILE PDU, fd=7, pdubuf=0x...1f
 *     ->09:22:50 Xmit: RESULT PDU, fd=7, numpmid=3
 *
 * The time stands where the second is another than in the line above.
 */
import { debug } from '../model/debug.ts'
import { errStr, type PcpError } from '../model/errors.ts'
import type { PduWatch } from '../net/connection.ts'
import { tracePdus } from '../net/pdu-trace.ts'
import { ctime } from '../sys/log.ts'
import { pduName, pduType } from '../wire/pdu.ts'
import { replyTypeOf, sentDetail } from '../wire/pdu-details.ts'

/** Bits of -T. */
const TRACE_CONNECTIONS = 1
const TRACE_PDUS = 2
const TRACE_UNBUFFERED = 256

const DEFAULT_SIZE = 20
/** Nobody reads more, and each event holds memory. */
const MAX_SIZE = 1_000_000

interface TraceEvent {
  readonly ms: number
  /** What happened; made when it is written, because most events never are. */
  readonly text: () => string
}

/** Watches the PDUs of one connection: for the event trace, and for -D pdu. */
export class ConnectionWatch implements PduWatch {
  /** Descriptors; a socket has one for both. */
  readonly sendFd: number
  readonly receiveFd: number
  /** Type of the PDU sent last, 0 once something has come back. */
  lastSent = 0
  readonly #events: EventTrace
  readonly #pdus: PduWatch

  /** `peer` is at the other end: `client 7`. */
  constructor(events: EventTrace, peer: string, sendFd: number, receiveFd: number = sendFd) {
    this.#events = events
    this.#pdus = tracePdus(peer, sendFd, receiveFd)
    this.sendFd = sendFd
    this.receiveFd = receiveFd
  }

  get isOn(): boolean {
    return this.#events.recordsPdus || debug.pdu || debug.pdubuf
  }

  /** A PDU is about to be sent. */
  sent(pdu: Uint8Array): void {
    if (this.#events.recordsPdus) this.#events.sent(this, pdu)
    this.#pdus.sent(pdu)
  }

  /** A PDU arrived. */
  received(pdu: Uint8Array): void {
    if (this.#events.recordsPdus) this.#events.received(this, pdu)
    this.#pdus.received(pdu)
  }

  /** The connection ended without having been closed. */
  failed(error: PcpError): void {
    this.#events.failed(this, error)
  }
}

/** The ring. Its settings may change at any time. */
export class EventTrace {
  /** TRACE_CONNECTIONS: are clients and agents that come and go recorded? */
  recordsConnections = false
  /** TRACE_PDUS: are PDUs recorded? */
  recordsPdus = false
  readonly #write: (line: string) => void
  readonly #clock: () => number
  #isUnbuffered = false
  #size = DEFAULT_SIZE
  /** Oldest first; a ring once it is full: `#next` is then the oldest. */
  #events: TraceEvent[] = []
  #next = 0
  /** Second of the line written last; undefined at the beginning of a block. */
  #lastSec: number | undefined
  #received = 0

  /** `write` takes a line of the log; `mask` is the sum of TRACE_* to start with. */
  constructor(write: (line: string) => void, clock: () => number = Date.now, mask = 0) {
    this.#write = write
    this.#clock = clock
    this.recordsConnections = (mask & TRACE_CONNECTIONS) !== 0
    this.recordsPdus = (mask & TRACE_PDUS) !== 0
    this.#isUnbuffered = (mask & TRACE_UNBUFFERED) !== 0
  }

  /** Is each event written at once, without heading? */
  get isUnbuffered(): boolean {
    return this.#isUnbuffered
  }

  set isUnbuffered(on: boolean) {
    this.#isUnbuffered = on
    this.#lastSec = undefined
  }

  /** Events the ring holds. A new size forgets those that are in it. */
  get size(): number {
    return this.#size
  }

  set size(events: number) {
    this.#size = Math.min(events, MAX_SIZE)
    this.#forget()
  }

  /** A client came. */
  clientAdded(slot: number, address: string, fd: number, seq: number): void {
    if (this.recordsConnections)
      this.#add(() => `New client: [${slot}] addr=${address}, fd=${fd}, seq=${seq}`)
  }

  /** A client went, in order or because of an error. */
  clientEnded(slot: number, fd: number, error: PcpError | undefined): void {
    if (this.recordsConnections)
      this.#add(() => `End client: [${slot}] fd=${fd}${error === undefined ? '' : `, ${errorDetail(error)}`}`)
  }

  /** An agent came or went; those in this process have no descriptors. */
  agent(
    what: 'Add' | 'Drop',
    domain: number,
    fds: readonly [input: number, output: number] | undefined,
  ): void {
    if (!this.recordsConnections) return
    const place = fds === undefined ? 'DSO' : `infd=${fds[0]}, outfd=${fds[1]}`
    this.#add(() => `${what} PMDA: domain=${domain}, ${place}`)
  }

  /** A PDU is sent. */
  sent(connection: ConnectionWatch, pdu: Uint8Array): void {
    const type = pduType(pdu)
    connection.lastSent = type
    const { sendFd: fd } = connection
    const detail = sentDetail(pdu)
    this.#add(() => `Xmit: ${pduName(type)} PDU, fd=${fd}${detail()}`)
  }

  /** A PDU was received. PCP shows where its buffer is; ours come and go, so they are numbered. */
  received(connection: ConnectionWatch, pdu: Uint8Array): void {
    const type = pduType(pdu)
    const { receiveFd: fd } = connection
    connection.lastSent = 0
    const number = ++this.#received
    this.#add(() => `Recv: ${pduName(type)} PDU, fd=${fd}, pdubuf=0x...${number.toString(16)}`)
  }

  /** The connection to an agent ended while it was expected to answer. */
  failed({ sendFd, receiveFd, lastSent }: ConnectionWatch, error: PcpError): void {
    if (!this.recordsPdus) return
    const expected = replyTypeOf(lastSent)
    const expecting = `expecting ${expected === undefined ? 'NO' : pduName(expected)} PDU, fd=${receiveFd}`
    switch (error.code) {
      case 'PM_ERR_EOF':
        this.#add(() => `Premature EOF: ${expecting}`)
        break
      case 'PM_ERR_TIMEOUT':
        this.#add(() => `Recv timeout: ${expecting}`)
        break
      case 'EPIPE':
        this.#add(() => `Send ${pduName(lastSent)} PDU failed: fd=${sendFd}, ${errorDetail(error)}`)
        break
      default:
        this.#add(() => `Recv error: ${expecting}, ${errorDetail(error)}`)
    }
  }

  /** Writes what the ring holds, and empties it. */
  dump(): void {
    const events = [...this.#events.slice(this.#next), ...this.#events.slice(0, this.#next)]
    this.#forget()
    if (events.length === 0) return
    this.#write(`\n->PMCD event trace: starting at ${ctime(events[0]!.ms)}`)
    this.#lastSec = secondOf(events[0]!.ms)
    for (const event of events) this.#writeEvent(event)
    this.#write('')
  }

  #add(text: () => string): void {
    const event = { ms: this.#clock(), text }
    if (this.#isUnbuffered) {
      this.#writeEvent(event)
    } else if (this.#events.length < this.#size) {
      this.#events.push(event)
    } else if (this.#size > 0) {
      this.#events[this.#next] = event
      this.#next = (this.#next + 1) % this.#size
    }
  }

  #forget(): void {
    this.#events = []
    this.#next = 0
  }

  #writeEvent({ ms, text }: TraceEvent): void {
    const sec = secondOf(ms)
    const time = sec === this.#lastSec ? '         ' : `${ctime(ms).slice(11, 19)} `
    this.#lastSec = sec
    this.#write(`->${time}${text()}`)
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000)
}

function errorDetail({ status }: PcpError): string {
  return `err=${status}: ${errStr(status)}`
}
