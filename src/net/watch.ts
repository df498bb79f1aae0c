/** PduWatch: somebody looks at every PDU of a connection. docs/pmcd.md */

/** Hears the PDUs of one connection while it is on; off, it costs the connection a field read. */
export interface PduWatch {
  readonly isOn: boolean
  /** A PDU is about to be sent. It must not be kept. */
  sent(pdu: Uint8Array): void
  /** A PDU came and has not been looked at. It borrows the socket's buffer. */
  received(pdu: Uint8Array): void
}
