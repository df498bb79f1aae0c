/** A key server that records commands and replies as the test says. */
import { createServer, type Socket } from 'node:net'
import { type Reply, ReplyReader } from '../../../src/series/keys/replies.ts'

/** The reply to a command, as it is sent. */
export type FakeReply = (command: readonly string[], socket: Socket) => string | undefined

/** A running fake. */
export interface FakeServer {
  readonly port: number
  /** Commands but for CLUSTER and PING, arguments as latin1. */
  readonly commands: (readonly string[])[]
  close(): Promise<void>
}

export const OK = '+OK\r\n'
const ALONE = '-ERR This instance has cluster support disabled\r\n'

/** Starts a server; `cluster` returns the reply to CLUSTER SLOTS. Commands are a list of texts in the protocol, so the reader of replies reads them. */
export async function fakeServer(
  reply: FakeReply = () => OK,
  cluster: () => string = () => ALONE,
): Promise<FakeServer> {
  const commands: (readonly string[])[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const reader = new ReplyReader()
    socket.on('error', () => {})
    socket.on('data', (piece) =>
      reader.push(piece as Buffer, (each) => {
        const command = (each as readonly Reply[]).map((argument) => (argument as Buffer).toString('latin1'))
        const isKnown = command[0] !== 'CLUSTER' && command[0] !== 'PING'
        if (isKnown) commands.push(command)
        const answer = isKnown ? reply(command, socket) : command[0] === 'PING' ? '+PONG\r\n' : cluster()
        socket.write(answer ?? '', 'latin1')
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    commands,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
