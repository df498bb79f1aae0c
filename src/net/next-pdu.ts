/** Waiting for one PDU of a handshake. */
import { PcpError } from '../model/errors.ts'
import type { PduConnection } from './connection.ts'
import { waitFor } from './wait.ts'

/** Returns the next PDU, within a time limit; later PDUs wait for the next listener. */
export function nextPdu(
  connection: PduConnection,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array> {
  const { name } = connection
  const late = (): PcpError => new PcpError('PM_ERR_TIMEOUT', `${name} sent nothing within ${ms} ms`)
  return waitFor<Uint8Array>({ ms, createTimeoutError: late, signal, what: `Waiting for ${name}` }, (end) => {
    connection.onClose(end)
    connection.onPdu(end)
    connection.resume()
    return () => connection.pause()
  })
}
