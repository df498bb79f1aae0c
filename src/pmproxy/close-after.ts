/** Closing a forwarded connection. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Closes a client after its server; if the server closed cleanly, only after the client has received the last bytes. */
export function closeAfter(server: Socket, client: Duplex): void {
  if (server.readableEnded) client.end(() => client.destroy())
  else client.destroy()
}
