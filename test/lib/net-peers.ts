/** Both ends of loopback connections, for tests of src/net. */
import { connect, createServer, type Socket } from 'node:net'
import type { PcpError } from '../../src/model/errors.ts'
import { PduConnection, type PduConnectionOptions, socketStream } from '../../src/net/connection.ts'
import { type Endpoint, listen } from '../../src/net/listen.ts'
import { encodeChallenge } from '../../src/wire/error.ts'
import { PDU_CREDS, pduType } from '../../src/wire/pdu.ts'

/** Returns both sockets of one TCP connection. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const client = connect(address.port, '127.0.0.1')
  await new Promise((resolve) => client.once('connect', resolve))
  const peer = await accepted
  server.close()
  return [client, peer]
}

/** Returns a connection and the plain socket at its other end. */
export async function connectionAndSocket(
  options: Partial<PduConnectionOptions> = {},
): Promise<readonly [PduConnection, Socket]> {
  const [near, far] = await socketPair()
  far.on('error', () => undefined)
  return [new PduConnection(socketStream(near), { name: 'peer', ...options }), far]
}

/** Returns two connected connections. */
export async function connectionPair(): Promise<readonly [PduConnection, PduConnection]> {
  const [near, far] = await socketPair()
  return [
    new PduConnection(socketStream(near), { name: 'far' }),
    new PduConnection(socketStream(far), { name: 'near' }),
  ]
}

/** Blocks this process like SIGSTOP: clocks continue, nothing is read. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Resolves to the error that ends a connection. */
export function ended(connection: PduConnection): Promise<PcpError> {
  return new Promise((resolve) => connection.onClose(resolve))
}

/** Returns a fake collector's replies to a PDU after CREDS. */
export type Script = (pdu: Uint8Array, connection: PduConnection) => readonly Uint8Array[]

/** A fake collector. */
export interface FakePmcd {
  readonly port: number
  /** Every PDU received, including CREDS. */
  readonly got: Uint8Array[]
  readonly connections: PduConnection[]
  close(): Promise<void>
}

/** Listens on a port chosen by the kernel, sends the challenge, and answers by script. */
export async function fakePmcd(features: number, script: Script, status = 0): Promise<FakePmcd> {
  const got: Uint8Array[] = []
  const connections: PduConnection[] = []
  const onConnection = (socket: Socket, endpoint: Endpoint): void => {
    const connection = new PduConnection(socketStream(socket), { name: `client on ${endpoint.port}` })
    connections.push(connection)
    connection.send(encodeChallenge(features, status))
    if (status < 0) void connection.close()
    connection.onPdu((pdu) => {
      got.push(pdu)
      if (pduType(pdu) === PDU_CREDS) return
      for (const reply of script(pdu, connection)) connection.send(reply)
    })
  }
  const listeners = await listen({ ports: [0], addresses: ['127.0.0.1'], onConnection })
  return {
    port: listeners.endpoints[0]!.port,
    got,
    connections,
    async close(): Promise<void> {
      await listeners.close()
      for (const connection of connections) connection.destroy()
    },
  }
}
