/** The end of a connection that was forwarded. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Closes a client whose server has closed; when that ended in good order, not before the client has got its last bytes. */
export function closeAfter(server: Socket, client: Duplex): void {
  if (server.readableEnded) client.end(() => client.destroy())
  else client.destroy()
}
