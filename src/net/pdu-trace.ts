/** -D pdu: one line a PDU of a connection; with pdubuf its words as well. docs/guide/debugging.md */
import { debug, trace, traceLine } from '../model/debug.ts'
import { PDU_ATTR, pduFrom, pduName, pduType } from '../wire/pdu.ts'
import { pduDump, sentDetail } from '../wire/pdu-details.ts'
import type { PduWatch } from './connection.ts'

/**
 * Traces the PDUs of the connection to `peer` over one descriptor, or two, while -D pdu or pdubuf is on. Lines begin as those of
 * PCP's library do, which scripts count; then comes what they are about.
 */
export function tracePdus(peer: string, sendFd: number, receiveFd: number = sendFd): PduWatch {
  const show = (call: string, fd: number, pdu: Uint8Array, source: string): void => {
    const what = `${pduName(pduType(pdu))} fd=${fd} len=${pdu.length}${source}, ${peer}`
    if (debug.pdu) traceLine(`[${process.pid}]${call}: ${what}${sentDetail(pdu)()}`)
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
