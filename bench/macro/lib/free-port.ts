/** Free ports, to listen on or to have no listener. */
import { createServer } from 'node:net'

/** Below the ephemeral ports, one of which the kernel could give to a client before it is used. */
const FIRST = 20_000
const COUNT = 12_000

/** Returns a port of this address without a listener, which the kernel does not give to clients. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port, host)) return port
  }
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    )
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
