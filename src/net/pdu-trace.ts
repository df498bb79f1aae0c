/** -D pdu: one line a PDU of a connection to a collector; with pdubuf its words as well. docs/guide/debugging.md */
import { debug, trace, traceLine } from '../model/debug.ts'
import { PDU_ATTR, pduFrom, pduName, pduType } from '../wire/pdu.ts'
import { pduDump, sentDetail } from '../wire/pdu-details.ts'
import type { PduWatch } from './watch.ts'

/**
 * Traces the PDUs of the connection to `peer` over the descriptor `fd` while -D pdu or pdubuf is on. Lines begin as those of
 * PCP's library do, which scripts count; then comes what they are about.
 */
export function tracePdus(peer: string, fd: number): PduWatch {
  const say = (call: string, pdu: Uint8Array, source: string): void => {
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
    sent: (pdu) => say('pmXmitPDU', pdu, ''),
    received: (pdu) => say('pmGetPDU', pdu, ` from=${pduFrom(pdu)}`),
  }
}
