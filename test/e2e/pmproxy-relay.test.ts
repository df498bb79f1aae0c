/** The key server's protocol through pmproxy, in front of a key server that knows three commands. docs/reference/pmproxy.md */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { ProxyConfig } from '../../src/pmproxy/config.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Answers PING, ECHO and, if a password is required, AUTH; records the commands received. */
async function startKeyServer(password?: string): Promise<{ port: number; heard: string[][] }> {
  const heard: string[][] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    let text = ''
    let isIn = password === undefined
    const answer = (words: string[]): string => {
      heard.push(words)
      if (words[0] === 'AUTH') {
        isIn = words.at(-1) === password
        return isIn ? '+OK\r\n' : '-WRONGPASS invalid\r\n'
      }
      if (!isIn) return '-NOAUTH required\r\n'
      return words[0] === 'PING' ? '+PONG\r\n' : `$${words[1]!.length}\r\n${words[1]}\r\n`
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      for (;;) {
        const count = /^\*(\d+)\r\n/.exec(text)
        const words = new RegExp(`^\\*\\d+\\r\\n((?:\\$\\d+\\r\\n[^\\r]*\\r\\n){${count?.[1] ?? 1}})`).exec(
          text,
        )
        if (words === null) return
        text = text.slice(words[0].length)
        socket.write(answer([...words[1]!.matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, word]) => word!)))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as { port: number }).port, heard }
}

async function startRelay(config: Partial<ProxyConfig>): Promise<WebServer> {
  const server = await startWebServer(['pmcd'], config)
  closing.push(() => server.close())
  return server
}

/** Sends a text, and reads a number of bytes or until the connection ends. */
function exchange({ proxy }: WebServer, sent: string, bytes = Number.POSITIVE_INFINITY): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1' })
    let text = ''
    const done = (): void => {
      socket.destroy()
      resolve(text)
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (text.length >= bytes) done()
    })
    socket.once('close', done).on('error', done)
    socket.write(sent)
  })
}

const PING = '*1\r\n$4\r\nPING\r\n'
const at = (port: number) => [{ host: '127.0.0.1', port }]

test('commands reach the key server and its answers are returned', async () => {
  const keys = await startKeyServer()
  const server = await startRelay({ keys: { servers: at(keys.port) } })
  expect(await exchange(server, `${PING}*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n`, 15)).toBe('+PONG\r\n$2\r\nhi\r\n')
  expect(keys.heard).toEqual([['PING'], ['ECHO', 'hi']])
  expect(server.proxy.statistics.relayed).toBe(1)
})

test('the login is the configuration’s, and clients do not see it', async () => {
  const keys = await startKeyServer('secret')
  const login = { username: 'pcp', password: 'secret' }
  const server = await startRelay({ keys: { servers: at(keys.port), ...login } })
  expect(await exchange(server, PING, 7)).toBe('+PONG\r\n')
  expect(keys.heard).toEqual([['AUTH', 'pcp', 'secret'], ['PING']])
  const wrong = await startRelay({ keys: { servers: at(keys.port), password: 'x' } })
  expect(await exchange(wrong, PING)).toBe('-ERR the key server refuses the login of this server\r\n')
})

test('the next key server is used when one is unreachable; without any the client gets an error', async () => {
  const keys = await startKeyServer()
  const server = await startRelay({ keys: { servers: [...at(1), ...at(keys.port)] } })
  expect(await exchange(server, PING, 7)).toBe('+PONG\r\n')
  const alone = await startRelay({ keys: { servers: at(1) } })
  expect(await exchange(alone, PING)).toBe('-ERR the key server cannot be reached\r\n')
})

test('nothing is relayed unless configured, nor where requests need a user', async () => {
  const keys = await startKeyServer()
  expect(await exchange(await startRelay({}), PING)).toBe('')
  const strict = { keys: { servers: at(keys.port) }, requiresUser: true }
  expect(await exchange(await startRelay(strict), PING)).toBe('')
  expect(keys.heard).toEqual([])
})
