/** HTTP as bytes, for requests that no client library would send. RFC 9112 */
import { connect, type Socket } from 'node:net'

/** One response as received, its body without chunks. */
export interface RawAnswer {
  readonly version: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** Bytes received after it. */
  readonly rest: Buffer
}

/** How long to wait for a silent server: some requests are never answered. */
const PATIENCE_MS = 8000

/** Sends bytes over a new connection and reads one response; undefined without one. `method` decides whether it has a body. */
export async function rawRequest(
  port: number,
  bytes: string | Buffer,
  method: string = String(bytes).split(' ', 1)[0]!,
): Promise<RawAnswer | undefined> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  try {
    if (typeof bytes === 'string') socket.write(bytes, 'latin1')
    else socket.write(bytes)
    return await readAnswer(socket, method)
  } finally {
    socket.destroy()
  }
}

function readAnswer(socket: Socket, method: string): Promise<RawAnswer | undefined> {
  return new Promise((resolve, reject) => {
    let all: Buffer = Buffer.alloc(0)
    const look = (isOver: boolean): void => {
      try {
        const answer = parseAnswer(all, method, isOver)
        if (answer !== undefined || isOver) resolve(answer)
      } catch (error) {
        reject(error as Error)
      }
    }
    socket.on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk])
      look(false)
    })
    socket.setTimeout(PATIENCE_MS, () => look(true))
    socket.once('error', () => look(true))
    socket.once('close', () => look(true))
  })
}

/** Returns the first final (not 1xx) response in these bytes; undefined while incomplete. */
export function parseAnswer(bytes: Buffer, method: string, isOver: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [, version = '', code = ''] = /^HTTP\/(\d\.\d) (\d{3})/.exec(first) ?? []
  if (code === '') throw new Error(`no status line: ${first}`)
  const status = Number(code)
  const behind = bytes.subarray(end + 4)
  if (status < 200) return parseAnswer(behind, method, isOver)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const whole = (body: Buffer, rest: Buffer): RawAnswer => ({ version, status, headers, body, rest })
  if (method === 'HEAD' || status === 204 || status === 304) return whole(Buffer.alloc(0), behind)
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') {
    const chunks = unchunk(behind)
    return chunks && whole(chunks.body, chunks.rest)
  }
  const length = headers.get('content-length')
  if (length === undefined) return isOver || method === 'TRACE' ? whole(behind, Buffer.alloc(0)) : undefined
  if (behind.length < Number(length)) return isOver ? whole(behind, Buffer.alloc(0)) : undefined
  return whole(behind.subarray(0, Number(length)), behind.subarray(Number(length)))
}

/** Joins chunks; undefined before the last one. */
function unchunk(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(start + 2) }
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
