/**
 * Client of message servers over STOMP, the text protocol of JMS servers: https://stomp.github.io, version 1.0 and later. pmie(1),
 * docs/reference/pmie.md
 *
 *     COMMAND ⏎ name:value ⏎ ... ⏎ ⏎ body NUL          CONNECT → CONNECTED, SEND with a receipt → RECEIPT
 */

import type { Socket } from 'node:net'
import { setLongTimeout } from '../base/after.ts'
import { Backoff } from '../base/backoff.ts'
import { PcpError } from '../model/errors.ts'
import type { Reporter } from '../rules/problems.ts'

/** A message server and its credentials. */
export interface StompConfig {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: string
  readonly topic: string
  /** Timeout of a reply. */
  readonly timeoutMs: number
}

const DEFAULT_TIMEOUT_SEC = 2
const MAX_TIMEOUT_SEC = 600
/** Minimum time between connection attempts; up to half is added at random. */
const RETRY_MS = 60_000
/** Longest frame accepted. */
const MAX_FRAME = 64 * 1024

/** Parses a configuration of NAME=VALUE lines. Throws EINVAL naming a missing or invalid setting. */
export function parseStompConfig(text: string, path: string): StompConfig {
  const settings = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^\s*(\w+)\s*=\s*(.*?)\s*(?:\s#.*)?$/.exec(line)
    if (match !== null) settings.set(match[1]!, match[2]!)
    else if (!/^\s*(?:#.*)?$/.test(line))
      throw new PcpError('EINVAL', `STOMP configuration file ${path}: not NAME=VALUE: ${line.trim()}`)
  }
  const needed = (name: string): string => {
    const value = settings.get(name) ?? ''
    if (value === '') throw new PcpError('EINVAL', `STOMP configuration file ${path} has no ${name}=VALUE`)
    return value
  }
  const number = (name: string, text: string, most: number): number => {
    const value = Number(text)
    if (value > 0 && value <= most) return value
    throw new PcpError('EINVAL', `STOMP configuration file ${path}: invalid value ${name}=${text}`)
  }
  return {
    host: needed('host'),
    port: Math.trunc(number('port', needed('port'), 65_535)),
    username: needed('username'),
    password: needed('password'),
    topic: settings.get('topic') || 'PMIE',
    timeoutMs: 1000 * number('timeout', settings.get('timeout') || `${DEFAULT_TIMEOUT_SEC}`, MAX_TIMEOUT_SEC),
  }
}

interface Frame {
  readonly command: string
  readonly headers: ReadonlyMap<string, string>
}

/** A connection to a message server, opened for the first message. */
export class StompClient {
  readonly #config: StompConfig
  readonly #reporter: Reporter
  readonly #nowMs: () => number
  #socket: Socket | undefined
  #text = ''
  /** Receives the next frame. */
  #hear: ((frame: Frame | Error) => void) | undefined
  readonly #backoff: Backoff
  #sent = 0

  constructor(
    config: StompConfig,
    reporter: Reporter,
    nowMs: () => number = () => performance.now(),
    random: () => number = Math.random,
  ) {
    this.#config = config
    this.#reporter = reporter
    this.#nowMs = nowMs
    this.#backoff = new Backoff({ delaysMs: [RETRY_MS], random })
  }

  /** Sends a message; returns false if the server is unreachable or rejects it, which is logged once a minute. */
  async send(message: string): Promise<boolean> {
    if (this.#socket === undefined && !(await this.#connect())) return false
    const receipt = `pmie-${process.pid}-${++this.#sent}`
    const headers = {
      destination: `/topic/${this.#config.topic}`,
      receipt,
      'content-type': 'text/plain',
      'content-length': `${Buffer.byteLength(message)}`,
    }
    return this.#attempt(async () => {
      const answer = await this.#ask('SEND', headers, message)
      if (answer.command !== 'RECEIPT' || answer.headers.get('receipt-id') !== receipt) throw refusal(answer)
    })
  }

  /** Disconnects. */
  close(): void {
    if (this.#socket !== undefined) this.#write('DISCONNECT', {})
    this.#socket?.end()
    this.#socket = undefined
  }

  async #connect(): Promise<boolean> {
    const now = this.#nowMs()
    if (!this.#backoff.canRetry(now)) return false
    this.#backoff.failed(now)
    return this.#attempt(async () => {
      const { host, port, username, password } = this.#config
      const { createConnection } = process.getBuiltinModule('node:net')
      this.#text = ''
      const socket = createConnection({ host, port })
      this.#socket = socket
      socket.setEncoding('utf8')
      socket.on('data', (text) => this.#take(String(text)))
      socket.on('error', (error) => this.#lost(socket, error))
      socket.on('close', () => this.#lost(socket, new Error('the server has hung up')))
      const login = { 'accept-version': '1.0,1.1,1.2', host, login: username, passcode: password }
      const answer = await this.#ask('CONNECT', login)
      if (answer.command !== 'CONNECTED') throw refusal(answer)
    })
  }

  /** Runs work; on failure closes the connection, logs the error and returns false. */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      const { host, port } = this.#config
      this.#reporter.log('error', `stomp: ${host}:${port}: ${(error as Error).message}`)
      this.#socket?.destroy()
      this.#socket = undefined
      return false
    }
  }

  /** Sends a frame and waits for the reply. */
  #ask(command: string, headers: Readonly<Record<string, string>>, body = ''): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const { timeoutMs } = this.#config
      const late = (): void => this.#hear?.(new Error(`no answer within ${timeoutMs} ms`))
      const cancel = setLongTimeout(timeoutMs, late)
      this.#hear = (frame) => {
        cancel()
        this.#hear = undefined
        if (frame instanceof Error) reject(frame)
        else resolve(frame)
      }
      this.#write(command, headers, body)
    })
  }

  #write(command: string, headers: Readonly<Record<string, string>>, body = ''): void {
    // The headers of CONNECT are never escaped, in any version.
    const shown = (text: string): string => (command === 'CONNECT' ? text : escaped(text))
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${shown(value)}\n`)
    this.#socket?.write(`${command}\n${lines.join('')}\n${body}\0`)
  }

  #lost(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    if (this.#hear !== undefined) this.#hear(error)
    else this.#reporter.log('warning', `stomp: lost the message server: ${error.message}`)
  }

  /** Appends received text. Frames end with NUL; newlines between them are ignored. */
  #take(text: string): void {
    this.#text += text
    if (this.#text.length > MAX_FRAME) {
      this.#socket?.destroy(new Error('the server sent a reply that is too long'))
      return
    }
    for (let end = this.#text.indexOf('\0'); end !== -1; end = this.#text.indexOf('\0')) {
      const frame = parseFrame(this.#text.slice(0, end))
      this.#text = this.#text.slice(end + 1)
      this.#hear?.(frame)
    }
  }
}

function parseFrame(text: string): Frame {
  const [command = '', ...lines] = text.replace(/^[\r\n]+/, '').split(/\r?\n/)
  const headers = new Map<string, string>()
  for (const line of lines) {
    if (line === '') break
    const colon = line.indexOf(':')
    // Of repeated headers the first one counts.
    const name = line.slice(0, colon)
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { command, headers }
}

function refusal({ command, headers }: Frame): Error {
  const said = headers.get('message')
  return new Error(`the server answered ${command}${said === undefined ? '' : `: ${said}`}`)
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll(':', '\\c')
}
