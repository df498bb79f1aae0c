/** Servers on loopback that record what exporters send. */
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A server that records. */
export interface StoreServer extends AsyncDisposable {
  readonly port: number
  /** Received bytes of each closed TCP connection, or each request of HTTP. */
  readonly received: string[]
  /** Resolves when there are so many. */
  until(count: number): Promise<void>
  /** Resolves when everything was received of clients that have ended. */
  idle(): Promise<void>
}

async function started(server: Server): Promise<Recording> {
  const received: string[] = []
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  return {
    port: (server.address() as AddressInfo).port,
    received,
    until: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    async idle() {
      // A client that has ended was accepted, as its connection was in the queue before.
      await nextTurn()
      while (sockets.size > 0) await Promise.race([...sockets].map((socket) => once(socket, 'close')))
    },
    add(text) {
      received.push(text)
      for (const { count, resolve } of waiting) if (received.length >= count) resolve()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Recording extends StoreServer {
  add(text: string): void
}

/** Starts a server that records whole connections as Latin-1; `answer` gets what came so far, and ends the connection with a result. */
export async function tcpStore(
  answer: (bytes: Buffer) => Uint8Array | undefined = () => undefined,
): Promise<StoreServer> {
  const server = createServer({ allowHalfOpen: true })
  const recording = await started(server)
  server.on('connection', (socket) => {
    let bytes: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const reply = answer(bytes)
      if (reply !== undefined) socket.end(reply)
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => recording.add(bytes.toString('latin1')))
  })
  return recording
}

/** Answer of an HTTP server. */
export interface HttpAnswer {
  readonly status: number
  readonly body?: string
}

/** Starts a server that records requests: method, path, account and body in one line each. */
export async function httpStore(
  answer: (request: IncomingMessage) => HttpAnswer = () => ({ status: 204 }),
): Promise<StoreServer> {
  const server = createHttpServer()
  const recording = await started(server)
  server.on('request', (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const login = headers.authorization === undefined ? '' : `${headers.authorization}\n`
      recording.add(`${method} ${url}\n${login}${Buffer.concat(chunks).toString()}`)
      const { status, body = '' } = answer(request)
      response.writeHead(status).end(body)
    })
  })
  // Clients wait for their answers, and may keep connections open.
  return { ...recording, idle: async () => {} }
}

/** Returns an answer of Zabbix's trapper for `tcpStore`, given when the request is complete. */
export function zabbixAnswer(info: string): (bytes: Buffer) => Uint8Array | undefined {
  return (bytes) => {
    if (bytes.length < 13 || bytes.length < 13 + bytes.readUInt32LE(5)) return undefined
    const body = Buffer.from(JSON.stringify({ response: 'success', info }))
    const header = Buffer.from('ZBXD\x01\0\0\0\0\0\0\0\0', 'latin1')
    header.writeUInt32LE(body.length, 5)
    return Buffer.concat([header, body])
  }
}
