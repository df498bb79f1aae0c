/**
 * Relays the key server protocol RESP. Each client gets its own connection to the key server, logged in with credentials from this server's
 * configuration. docs/reference/pmproxy.md
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { KeyServer } from '../series/keys/address.ts'
import { closeAfter } from './close-after.ts'

/** Key servers and the login for them. */
export interface KeyServers {
  /** In order of preference; the first reachable one is used. */
  readonly servers: readonly KeyServer[]
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** First characters of RESP values. */
export const RESP_FIRST = '-+:,$*#%~'

/** Maximum number of relayed connections. */
const MOST_RELAYED = 256
/** Timeout for connecting and logging in to a key server, ms. */
const PATIENCE_MS = 5000
/** Maximum length of a login response. */
const MOST_ANSWER = 1024

/** Relays clients whose first byte starts a RESP value. */
export class KeyRelay {
  readonly #keys: KeyServers
  #count = 0

  constructor(keys: KeyServers) {
    this.#keys = keys
  }

  /** Relays a client to the first reachable key server; otherwise sends an error and closes the connection. */
  async serve(client: Duplex): Promise<void> {
    client.on('error', () => client.destroy())
    if (this.#count >= MOST_RELAYED) return refuse(client, 'too many connections')
    this.#count++
    client.once('close', () => this.#count--)
    for (const server of this.#keys.servers) {
      const found = await this.#open(server, client).catch(() => undefined)
      if (client.destroyed) return void found?.socket.destroy()
      if (found === undefined) continue
      if (found.refusal !== undefined) return refuse(client, found.refusal, found.socket)
      return join(client, found.socket)
    }
    refuse(client, 'the key server cannot be reached')
  }

  async #open({ host, port }: KeyServer, client: Duplex): Promise<{ socket: Socket; refusal?: string }> {
    const { connect } = process.getBuiltinModule('node:net')
    const socket = connect({ host, port, autoSelectFamily: true, noDelay: true })
    const giveUp = (): void => void socket.destroy()
    const timer = setTimeout(giveUp, PATIENCE_MS)
    client.once('close', giveUp)
    try {
      await happens(socket, 'connect')
      const refusal = await this.#logIn(socket)
      return refusal === undefined ? { socket } : { socket, refusal }
    } finally {
      clearTimeout(timer)
      client.off('close', giveUp)
    }
  }

  /** Logs in; returns the key server's error, or undefined if it succeeded or no login is configured. */
  async #logIn(socket: Socket): Promise<string | undefined> {
    const { username, password } = this.#keys
    if (password === undefined) return undefined
    socket.write(command(username === undefined ? ['AUTH', password] : ['AUTH', username, password]))
    let answer = ''
    while (!answer.endsWith('\r\n') && answer.length < MOST_ANSWER) {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) await happens(socket, 'readable')
      else answer += chunk.toString('latin1')
    }
    return answer.startsWith('+') ? undefined : 'the key server refuses the login of this server'
  }
}

/** Copies bytes both ways until either side ends. */
function join(client: Duplex, server: Socket): void {
  server.on('error', () => server.destroy()).once('close', () => closeAfter(server, client))
  client.once('close', () => server.destroy())
  client.pipe(server)
  server.pipe(client)
}

function refuse(client: Duplex, why: string, server?: Socket): void {
  server?.destroy()
  client.end(`-ERR ${why}\r\n`, () => client.destroy())
}

function happens(socket: Socket, event: 'connect' | 'readable'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error('closed'))
    if (socket.destroyed) return onClose()
    const onError = (): void => void socket.destroy()
    socket.on('error', onError).once('close', onClose)
    socket.once(event, () => {
      socket.off('error', onError).off('close', onClose)
      resolve()
    })
  })
}

function command(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${parts.join('')}`
}
