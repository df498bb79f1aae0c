/** -D pdu: one line per PDU of a connection; with -D pdubuf a dump as well. docs/how-to/debug.md */
import { debug, trace, traceLine } from '../model/debug.ts'
import { PDU_ATTR, pduFrom, pduName, pduType } from '../wire/pdu.ts'
import { pduDetail, pduDump } from '../wire/pdu-details.ts'
import type { PduObserver } from './connection.ts'

/**
 * Traces the PDUs of the connection to `peer` over one or two file descriptors while -D pdu or pdubuf is on. Lines start
 * like those of PCP's library, because scripts count them.
 */
export function tracePdus(peer: string, sendFd: number, receiveFd: number = sendFd): PduObserver {
  const show = (call: string, fd: number, pdu: Uint8Array, source: string): void => {
    const what = `${pduName(pduType(pdu))} fd=${fd} len=${pdu.length}${source}, ${peer}`
    if (debug.pdu) traceLine(`[${process.pid}]${call}: ${what}${pduDetail(pdu)()}`)
    // Attributes carry passwords.
    if (debug.pdubuf && pduType(pdu) !== PDU_ATTR)
      for (const line of pduDump(pdu).split('\n')) trace('pdubuf', line)
  }
  return {
    get isOn() {
      return debug.pdu || debug.pdubuf
    },
    sent: (pdu) => show('pmXmitPDU', sendFd, pdu, ''),
    received: (pdu) => show('pmGetPDU', receiveFd, pdu, ` from=${pduFrom(pdu)}`),
  }
}
