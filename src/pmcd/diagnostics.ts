/** The collector's eyes on itself: event trace and debug output, and how connections are watched for both. pmcd(1) */
import type { PcpError } from '../model/errors.ts'
import type { PduWatch } from '../net/watch.ts'
import { pduFrom, pduName, pduType } from '../wire/pdu.ts'
import { pduDump } from '../wire/pdu-details.ts'
import { Debug } from './debug.ts'
import { EventTrace, type TracedConnection } from './event-trace.ts'

/** Handed to every part that has something to tell. */
export interface Diagnostics {
  readonly trace: EventTrace
  readonly debug: Debug
}

/** What is on from the start. */
export interface DiagnosticSettings {
  /** Sum of TRACE_*. */
  readonly traceMask?: number
  /** Names of -D. */
  readonly debug?: ReadonlySet<string>
}

/** Makes those of one collector. */
export function newDiagnostics(
  { traceMask = 0, debug = new Set() }: DiagnosticSettings,
  write: (line: string) => void,
  clock: () => number = Date.now,
): Diagnostics {
  return { trace: new EventTrace(write, clock, traceMask), debug: new Debug(debug, write) }
}

/** Watches the PDUs of one connection. */
export class ConnectionWatch implements PduWatch, TracedConnection {
  readonly sendFd: number
  readonly receiveFd: number
  lastSent = 0
  readonly #diagnostics: Diagnostics
  readonly #who: string

  /** `who` is at the other end: `client 7`. */
  constructor(diagnostics: Diagnostics, who: string, sendFd: number, receiveFd: number = sendFd) {
    this.#diagnostics = diagnostics
    this.#who = who
    this.sendFd = sendFd
    this.receiveFd = receiveFd
  }

  get isOn(): boolean {
    const { trace, debug } = this.#diagnostics
    return trace.recordsPdus || debug.pdu
  }

  /** A PDU is about to be sent. */
  sent(pdu: Uint8Array): void {
    const { trace, debug } = this.#diagnostics
    if (trace.recordsPdus) trace.sent(this, pdu)
    if (debug.pdu) this.#show('xmit', 'to', pdu)
  }

  /** A PDU came. */
  received(pdu: Uint8Array): void {
    const { trace, debug } = this.#diagnostics
    if (trace.recordsPdus) trace.received(this, pdu)
    if (debug.pdu) this.#show('recv', 'from', pdu)
  }

  /** The connection ended without having been closed. */
  failed(error: PcpError): void {
    this.#diagnostics.trace.failed(this, error)
  }

  #show(what: 'xmit' | 'recv', preposition: string, pdu: Uint8Array): void {
    const sizes = `len=${pdu.length} from=${pduFrom(pdu)}`
    const fd = what === 'xmit' ? this.sendFd : this.receiveFd
    const line = `${what} ${pduName(pduType(pdu))} ${preposition} ${this.#who} fd=${fd} ${sizes}`
    this.#diagnostics.debug.say('pdu', line, pduDump(pdu))
  }
}
