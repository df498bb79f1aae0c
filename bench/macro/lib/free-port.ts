/** Ports for programs that are to listen, and for those that are to find nobody. */
import { createServer } from 'node:net'

/** Below those that the kernel gives to clients, which would take one between our asking for it and its use. */
const FIRST = 20_000
const COUNT = 12_000

/** A port of this address that nobody listens on, and that nobody is given who asks for any port. */
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
