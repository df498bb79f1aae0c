/**
 * Event trace: a ring of recent connections and PDUs, written on request or when an agent is lost. pmcd(1) -T
 *
 *     ->PMCD event trace: starting at Fri Nov 20 09:22:49 2026
 *     ->         Recv: PROFILE PDU, fd=7, pdubuf=0x...1f
 *     ->09:22:50 Xmit: RESULT PDU, fd=7, numpmid=3
 *
 * A line has the time if it differs by second from the previous line.
 */
import { debug } from '../model/debug.ts'
import { errStr, type PcpError } from '../model/errors.ts'
import type { PduObserver } from '../net/connection.ts'
import { tracePdus } from '../net/pdu-trace.ts'
import { ctime } from '../sys/log.ts'
import { pduName, pduType } from '../wire/pdu.ts'
import { pduDetail, replyTypeOf } from '../wire/pdu-details.ts'

/** Bits of -T. */
const TRACE_CONNECTIONS = 1
const TRACE_PDUS = 2
const TRACE_UNBUFFERED = 256

const DEFAULT_SIZE = 20
/** Limits memory; more events are of no use. */
const MAX_SIZE = 1_000_000

interface TraceEvent {
  readonly ms: number
  /** Formats the event; called only when it is written, because most events never are. */
  readonly text: () => string
}

/** Observes the PDUs of one connection, for the event trace and for -D pdu. */
export class ConnectionTracer implements PduObserver {
  /** File descriptors; the same one twice for a socket. */
  readonly sendFd: number
  readonly receiveFd: number
  /** Type of the last PDU sent; 0 after a reply. */
  lastSent = 0
  readonly #events: EventTrace
  readonly #pdus: PduObserver

  /** `peer` names the other end: `client 7`. */
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

  /** Records that the connection failed. */
  failed(error: PcpError): void {
    this.#events.failed(this, error)
  }
}

/** The ring of events. Its settings may change at any time. */
export class EventTrace {
  /** TRACE_CONNECTIONS: record arrival and departure of clients and agents. */
  recordsConnections = false
  /** TRACE_PDUS: record PDUs. */
  recordsPdus = false
  readonly #write: (line: string) => void
  readonly #clock: () => number
  #isUnbuffered = false
  #size = DEFAULT_SIZE
  /** Oldest first; once full, `#next` is the index of the oldest. */
  #events: TraceEvent[] = []
  #next = 0
  /** Second of the last line written; undefined at the start of a block. */
  #lastSec: number | undefined
  #received = 0

  /** `write` receives lines for the log; `mask` is the initial sum of TRACE_*. */
  constructor(write: (line: string) => void, clock: () => number = Date.now, mask = 0) {
    this.#write = write
    this.#clock = clock
    this.recordsConnections = (mask & TRACE_CONNECTIONS) !== 0
    this.recordsPdus = (mask & TRACE_PDUS) !== 0
    this.#isUnbuffered = (mask & TRACE_UNBUFFERED) !== 0
  }

  /** Write each event immediately, without a heading. */
  get isUnbuffered(): boolean {
    return this.#isUnbuffered
  }

  set isUnbuffered(on: boolean) {
    this.#isUnbuffered = on
    this.#lastSec = undefined
  }

  /** Capacity of the ring; changing it discards recorded events. */
  get size(): number {
    return this.#size
  }

  set size(events: number) {
    this.#size = Math.min(events, MAX_SIZE)
    this.#forget()
  }

  /** Records a new client. */
  clientAdded(slot: number, address: string, fd: number, seq: number): void {
    if (this.recordsConnections)
      this.#add(() => `New client: [${slot}] addr=${address}, fd=${fd}, seq=${seq}`)
  }

  /** Records the departure of a client, orderly or after an error. */
  clientEnded(slot: number, fd: number, error: PcpError | undefined): void {
    if (this.recordsConnections)
      this.#add(() => `End client: [${slot}] fd=${fd}${error === undefined ? '' : `, ${errorDetail(error)}`}`)
  }

  /** Records that an agent was added or dropped; agents in this process have no file descriptors. */
  agent(
    what: 'Add' | 'Drop',
    domain: number,
    fds: readonly [input: number, output: number] | undefined,
  ): void {
    if (!this.recordsConnections) return
    const place = fds === undefined ? 'DSO' : `infd=${fds[0]}, outfd=${fds[1]}`
    this.#add(() => `${what} PMDA: domain=${domain}, ${place}`)
  }

  /** Records a PDU sent. */
  sent(connection: ConnectionTracer, pdu: Uint8Array): void {
    const type = pduType(pdu)
    connection.lastSent = type
    const { sendFd: fd } = connection
    const detail = pduDetail(pdu)
    this.#add(() => `Xmit: ${pduName(type)} PDU, fd=${fd}${detail()}`)
  }

  /** Records a PDU received. PCP shows the address of its buffer; ours are transient, so they are numbered. */
  received(connection: ConnectionTracer, pdu: Uint8Array): void {
    const type = pduType(pdu)
    const { receiveFd: fd } = connection
    connection.lastSent = 0
    const number = ++this.#received
    this.#add(() => `Recv: ${pduName(type)} PDU, fd=${fd}, pdubuf=0x...${number.toString(16)}`)
  }

  /** Records that the connection to an agent ended while a reply was expected. */
  failed({ sendFd, receiveFd, lastSent }: ConnectionTracer, error: PcpError): void {
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

  /** Writes the recorded events and clears the ring. */
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
