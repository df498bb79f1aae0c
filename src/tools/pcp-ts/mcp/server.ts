/** The Model Context Protocol over standard input and output. https://modelcontextprotocol.io */
import { Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { onAbort } from '../../../base/on-abort.ts'
import { Semaphore } from '../../../base/semaphore.ts'
import { VERSION } from '../../../base/version.ts'
import { PcpError } from '../../../model/errors.ts'
import type { ToolIo } from '../../lib/tool.ts'
import { MARKS_TEXT, shownMessage } from './answer.ts'
import type { Desk } from './mcp-tool.ts'
import { TOOLS } from './tools/index.ts'

/** Longest message; a longer one ends the server. */
const MOST_BYTES = 1_000_000
/** Errors of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

const INSTRUCTIONS = `Performance metrics of hosts, recorded and live (Performance Co-Pilot). Everything is read-only. To find the cause of a problem: list the sources, call what_changed for the time of the problem, look at processes_at the worst instant, then query or compare single metrics. Show the address after "Chart:" to the user. ${MARKS_TEXT}`

/** Serves until the input ends or the command is interrupted. */
export async function serve(io: ToolIo, desk: Omit<Desk, 'signal'>): Promise<void> {
  const server = new McpServer({ name: 'pcp-ts', version: VERSION }, { instructions: INSTRUCTIONS })
  // Contexts on archives have one position, so calls take turns.
  const turns = new Semaphore(1)
  for (const { name, title, description, input, run } of TOOLS)
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations: { readOnlyHint: true, openWorldHint: false } },
      async (given, { mcpReq }) => {
        try {
          const text = await turns.run(() => run(given, { ...desk, signal: mcpReq.signal }), mcpReq.signal)
          return { content: [{ type: 'text', text }] }
        } catch (error) {
          if (!(error instanceof PcpError)) throw error
          return { content: [{ type: 'text', text: shownMessage(error.message) }], isError: true }
        }
      },
    )
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      io.stdout.write(String(chunk))
      io.stdout.flush().then(() => done(), done)
    },
  })
  const unanswered = new Unanswered()
  const refuse = (code: number, message: string): void => {
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`)
  }
  const lines = jsonLines(io.stdin, () => refuse(PARSE_ERROR, 'Parse error: a message is a line of JSON'))
  const input = Readable.from(unanswered.inputUntilIdle(lines), { objectMode: false })
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MOST_BYTES })
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve
  })
  await server.connect(transport)
  unanswered.watch(transport)
  const { onerror } = transport
  transport.onerror = (error) => {
    if (error.name === 'ZodError') refuse(INVALID_REQUEST, 'Invalid Request: not a message of JSON-RPC 2.0')
    onerror?.(error)
  }
  const unlink = onAbort(io.signal, () => void server.close())
  await ended
  unlink()
}

/** Yields the lines of JSON; others are reported instead, which the transport would ignore. */
async function* jsonLines(input: AsyncIterable<Uint8Array>, onOther: () => void): AsyncIterable<Uint8Array> {
  let rest = Buffer.alloc(0)
  for await (const chunk of input) {
    let all = Buffer.concat([rest, chunk])
    for (let end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n')) {
      const line = all.subarray(0, end + 1)
      all = all.subarray(end + 1)
      if (isJson(String(line))) yield line
      else if (String(line).trim() !== '') onOther()
    }
    rest = all
    // Too long: the transport ends the server.
    if (rest.length > MOST_BYTES) yield rest
  }
  if (String(rest).trim() !== '' && !isJson(String(rest))) onOther()
  else yield rest
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The requests that have no answer yet: the protocol's end would discard them, but a script may send all and end its output. */
class Unanswered {
  readonly #ids = new Set<unknown>()
  #resolve: (() => void) | undefined

  /** Notes the messages of a transport that is connected. */
  watch(transport: StdioServerTransport): void {
    const { onmessage } = transport
    const send = transport.send.bind(transport)
    transport.onmessage = (message) => {
      if ('method' in message && 'id' in message) this.#ids.add(message.id)
      // A cancelled request is never answered.
      else if ('method' in message && message.method === 'notifications/cancelled')
        this.#settle((message.params as { requestId?: unknown } | undefined)?.requestId)
      onmessage?.(message)
    }
    transport.send = async (message) => {
      await send(message)
      if ('id' in message && !('method' in message)) this.#settle(message.id)
    }
  }

  /** Yields the input; its end when all requests are answered. */
  async *inputUntilIdle(input: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    yield* input
    await setImmediate() // until the last messages are read
    if (this.#ids.size > 0) await new Promise<void>((resolve) => (this.#resolve = resolve))
  }

  #settle(id: unknown): void {
    this.#ids.delete(id)
    if (this.#ids.size === 0) this.#resolve?.()
  }
}
