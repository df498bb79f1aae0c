import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import { KeyRelay } from '../../src/pmproxy/key-relay.ts'
import { parseKeyServer } from '../../src/series/keys/address.ts'

afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['db1', { host: 'db1', port: 6379 }],
  ['db1:7000', { host: 'db1', port: 7000 }],
  ['[::1]:7000', { host: '::1', port: 7000 }],
  ['db1:0', undefined],
  ['db1:70000', undefined],
  ['::1', undefined],
  ['redis://db1', undefined],
  ['', undefined],
])('a key server is named %s', (text, wanted) => {
  expect(parseKeyServer(text)).toEqual(wanted)
})

async function startKeyServer(serve: (socket: Socket) => void): Promise<{ server: Server; relay: KeyRelay }> {
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { server, relay: new KeyRelay({ servers: [{ host: '127.0.0.1', port }], password: 'secret' }) }
}

test('a client that disconnects while the key server is silent leaves no connection behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] }) // so that the timeout does not close it
  const { server, relay } = await startKeyServer((socket) => socket.resume())
  const client = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const served = relay.serve(client)
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.destroy()
  await once(socket, 'close')
  await served
  server.close()
})

test('a slow client gets everything the key server sent before it closed', async () => {
  const { server, relay } = await startKeyServer((socket) =>
    socket.once('data', () => {
      socket.write('+OK\r\n')
      socket.once('data', () => socket.end('+BYE\r\n'))
    }),
  )
  const connected = once(server, 'connection')
  let got = ''
  let take = (): void => {}
  const client = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      take = () => {
        if (!client.destroyed) got += chunk.toString()
        done()
      }
    },
  })
  client.push('*1\r\n$4\r\nQUIT\r\n')
  await relay.serve(client)
  const [socket] = (await connected) as [Socket]
  await once(socket, 'close')
  await new Promise(setImmediate)
  take()
  if (!client.closed) await once(client, 'close')
  expect(got).toBe('+BYE\r\n')
  server.close()
})
