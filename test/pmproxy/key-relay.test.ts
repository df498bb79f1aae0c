import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { KeyRelay, parseKeyServer } from '../../src/pmproxy/key-relay.ts'

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

test('a slow client gets all that the key server said before it closed', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end('+OK\r\n')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
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
  const { port } = server.address() as { port: number }
  await new KeyRelay({ servers: [{ host: '127.0.0.1', port }] }).serve(client)
  const [socket] = (await connected) as [Socket]
  await once(socket, 'close')
  await new Promise(setImmediate)
  take()
  if (!client.closed) await once(client, 'close')
  expect(got).toBe('+OK\r\n')
  server.close()
})
