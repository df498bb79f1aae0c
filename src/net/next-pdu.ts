/** Waiting for one PDU of a handshake. */
import { PcpError } from '../model/errors.ts'
import type { PduConnection } from './connection.ts'
import { wait } from './wait.ts'

/** The next PDU, within a time limit; whatever follows it is kept for whoever listens next. */
export function nextPdu(
  connection: PduConnection,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array> {
  const { name } = connection
  const late = (): PcpError => new PcpError('PM_ERR_TIMEOUT', `${name} said nothing within ${ms} ms`)
  return wait<Uint8Array>({ ms, late, signal, what: `Waiting for ${name}` }, (end) => {
    connection.onClose(end)
    connection.onPdu(end)
    connection.resume()
    return () => connection.pause()
  })
}
