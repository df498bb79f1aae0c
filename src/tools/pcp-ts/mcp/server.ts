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
  const input = Readable.from(unanswered.inputUntilIdle(io.stdin), { objectMode: false })
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MOST_BYTES })
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve
  })
  await server.connect(transport)
  unanswered.watch(transport)
  const unlink = onAbort(io.signal, () => void server.close())
  await ended
  unlink()
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
