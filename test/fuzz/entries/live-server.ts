/** A pmproxy and a collector in this thread, for entries that send bytes over connections. */
import { connect } from 'node:net'
import { startWebServer, type WebServer } from '../../lib/web-server.ts'
import { hold } from '../engine/entry.ts'

/** Longest wait for the end of an answer, ms: a connection that waits for more bytes is closed only by this. */
const LINGER_MS = 100

let started: Promise<WebServer> | undefined

/** Returns the servers, which all entries share. */
export function liveServer(): Promise<WebServer> {
  started ??= startWebServer(['pmcd', 'sample', 'simple'], {
    allowsStore: true,
    archiveDirs: ['test/fixtures'],
    pageDir: 'docs',
  })
  return started
}

/** Stops them. */
export async function closeLiveServer(): Promise<void> {
  const server = await started
  started = undefined
  await server?.close()
}

/** Sends bytes over a new connection; resolves to the whole answer. */
export function exchange(port: number, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve) => {
    const answer: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('data', (chunk: Buffer) => answer.push(chunk))
    socket.on('error', () => undefined).once('close', () => resolve(Buffer.concat(answer)))
    socket.setTimeout(LINGER_MS, () => socket.destroy())
    socket.end(bytes)
  })
}

/** Holds that the servers have logged no internal error. */
export function holdNoErrors({ notices }: WebServer): void {
  const errors = notices.filter((notice) => notice.startsWith('error'))
  hold(errors.length === 0, `no error is logged: ${errors.join('; ')}`)
}
