/** -D pdu: one line a PDU of a connection to a collector; with pdubuf its words as well. docs/guide/debugging.md */
import { debug, trace } from '../model/debug.ts'
import { PDU_ATTR, pduName, pduType } from '../wire/pdu.ts'
import { pduDump, sentDetail } from '../wire/pdu-details.ts'
import type { PduWatch } from './watch.ts'

/** Traces the PDUs of the connection to `peer` while -D pdu or pdubuf is on. */
export function tracePdus(peer: string): PduWatch {
  const say = (arrow: string, pdu: Uint8Array): void => {
    const detail = sentDetail(pdu)()
    if (debug.pdu) trace('pdu', `${arrow} ${peer}: ${pduName(pduType(pdu))}, ${pdu.length} bytes${detail}`)
    // Attributes carry passwords.
    if (debug.pdubuf && pduType(pdu) !== PDU_ATTR)
      for (const line of pduDump(pdu).split('\n')) trace('pdubuf', line)
  }
  return {
    get isOn() {
      return debug.pdu || debug.pdubuf
    },
    sent: (pdu) => say('to', pdu),
    received: (pdu) => say('from', pdu),
  }
}
