/** Requests and answers of pmdaroot. */
import {
  decodeRootPdu,
  encodeRootInfo,
  encodeRootPdu,
  PDUROOT_CGROUPNAME_REQ,
  rootPduLength,
} from '../../../src/wire/root.ts'
import { type FuzzEntry, hold } from '../engine/entry.ts'

/** Entry of src/wire/root.ts. */
export const rootPdu: FuzzEntry = {
  seeds: () => [
    encodeRootInfo(7),
    encodeRootPdu({ type: PDUROOT_CGROUPNAME_REQ, status: 0, pid: 17, name: 'container' }),
  ],
  maxLength: 512,
  run(input) {
    rootPduLength(input)
    const again = encodeRootPdu(decodeRootPdu(input))
    hold(
      Buffer.compare(again, encodeRootPdu(decodeRootPdu(again))) === 0,
      'encoding and decoding preserves the message',
    )
  },
}
