/**
 * Forwarding of PCP's protocol: the client names a collector, then bytes are copied both ways. docs/reference/pmproxy.md
 *
 *     client: pmproxy-client 1\n    server: pmproxy-server 1\n    client: HOST PORT\n    … PDUs …
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeAfter } from './close-after.ts'
import { PduLimit } from './pdu-limit.ts'

const GREETING = 'pmproxy-client 1\n'
const ANSWER = 'pmproxy-server 1\n'
/** Maximum length of the line with the host; DNS names have at most 253 characters. */
const MOST_LINE = 300
/** Timeout for the client's lines, and for connecting to the collector, ms. */
const PATIENCE_MS = 10_000

/** Options of a forwarded connection. */
export interface PcpProxyOptions {
  /** Checks whether a client may connect to this collector. */
  readonly isAllowed: (host: string, port: number) => boolean
  /** Maximum size of a client's PDU in bytes. */
  readonly mostPdu: number
  /** Called when the collector is connected. */
  readonly connected: () => void
}

/** Serves a client whose first byte is `p`. A protocol error or an unreachable host closes the connection. */
export function serveProxyClient(client: Duplex, options: PcpProxyOptions): void {
  let text = ''
  let isGreeted = false
  const timer = setTimeout(() => client.destroy(), PATIENCE_MS)
  client.on('error', () => client.destroy())
  client.once('close', () => clearTimeout(timer))
  const read = (chunk: Buffer): void => {
    text += chunk.toString('latin1') // the lines are followed by binary data
    if (!isGreeted && text.length >= GREETING.length) {
      if (!text.startsWith(GREETING)) return void client.destroy()
      isGreeted = true
      text = text.slice(GREETING.length)
      client.write(ANSWER)
    } else if (!isGreeted && !GREETING.startsWith(text)) return void client.destroy()
    const end = isGreeted ? text.indexOf('\n') : -1
    if (end < 0) {
      if (text.length > MOST_LINE) client.destroy()
      return
    }
    client.off('data', read)
    client.pause()
    clearTimeout(timer)
    const target = targetOf(text.slice(0, end), options.isAllowed)
    if (target === undefined) client.destroy()
    else forward(client, target, text.slice(end + 1), options)
  }
  client.on('data', read)
}

interface Target {
  readonly host: string
  readonly port: number
}

function targetOf(line: string, isAllowed: PcpProxyOptions['isAllowed']): Target | undefined {
  const [, host = '', port = ''] = /^([A-Za-z0-9._:%-]{1,255}) (\d{1,5})$/.exec(line) ?? []
  const number = Number(port)
  if (host === '' || number < 1 || number > 65_535) return undefined
  return isAllowed(host, number) ? { host, port: number } : undefined
}

/** Connects to a host, whose name is resolved here, trying all addresses. */
function forward(
  client: Duplex,
  { host, port }: Target,
  rest: string,
  { mostPdu, connected }: PcpProxyOptions,
): void {
  const limit = new PduLimit(mostPdu)
  const { connect } = process.getBuiltinModule('node:net')
  const server: Socket = connect({ host, port, autoSelectFamily: true, noDelay: true })
  const timer = setTimeout(() => server.destroy(), PATIENCE_MS)
  const end = (): void => {
    client.destroy()
    server.destroy()
  }
  server.on('error', () => server.destroy())
  server.once('close', () => {
    clearTimeout(timer)
    closeAfter(server, client)
  })
  client.once('close', end)
  server.once('connect', () => {
    clearTimeout(timer)
    connected()
    // Data after the line is a PDU already; the collector sends the first PDU, so before that only text may arrive.
    const early = Buffer.from(rest, 'latin1')
    if (!limit.passes(early)) return end()
    server.write(early)
    client.prependListener('data', (chunk: Buffer) => {
      if (!limit.passes(chunk)) end()
    })
    client.pipe(server)
    server.pipe(client)
  })
}
