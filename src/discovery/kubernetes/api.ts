/** Requests to the API of Kubernetes: documents, and watches as lines of JSON. */
import type { IncomingMessage } from 'node:http'
import { PcpError } from '../../model/errors.ts'
import { HttpClient } from '../../net/http-client.ts'
import type { Cluster } from './cluster.ts'

/** Largest document in bytes; lists come in pages of some hundred pods. */
const MOST_BYTES = 64 * 1024 * 1024
/** Longest event of a watch in bytes. */
const MOST_LINE = 4 * 1024 * 1024
/** Time in milliseconds for an answer to begin, and between two parts of a document. */
const SILENT_MS = 30_000
const MOST_MESSAGE = 300

/** The resource version of a watch or list is too old; the list must be read again. */
export class GoneError extends Error {}

/** Reads a document of JSON. */
export async function getJson(cluster: Cluster, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await request(cluster, path, SILENT_MS, signal)
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part as string
    if (text.length > MOST_BYTES)
      throw new PcpError('EFBIG', `${cluster.server}${path}: more than ${MOST_BYTES} bytes`)
  }
  return parse(text, cluster)
}

/** Yields the events of a watch until the server ends it. `silentMs` is the longest time without any. */
export async function* watchLines(
  cluster: Cluster,
  path: string,
  silentMs: number,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  const response = await request(cluster, path, silentMs, signal)
  let rest = ''
  for await (const part of response.setEncoding('utf8')) {
    const lines = (rest + (part as string)).split('\n')
    rest = lines.pop()!
    if (rest.length > MOST_LINE)
      throw new PcpError('EFBIG', `${cluster.server}: an event of a watch has more than ${MOST_LINE} bytes`)
    for (const line of lines) if (line.trim() !== '') yield parse(line, cluster)
  }
}

/** Resolves to a successful response; a refused token is replaced once. */
async function request(
  cluster: Cluster,
  path: string,
  silentMs: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  for (let isAgain = false; ; isAgain = true) {
    const response = await send(cluster, path, silentMs, signal)
    const { statusCode = 0 } = response
    if (statusCode === 200) return response
    const message = await problemOf(response)
    if (statusCode === 410) throw new GoneError(message)
    if (statusCode !== 401 || isAgain)
      throw new PcpError(
        statusCode === 401 || statusCode === 403 ? 'EACCES' : 'EHOSTUNREACH',
        `${cluster.server}: ${statusCode} ${message}${statusCode === 403 ? '. Allow its account to list and watch pods' : ''}`,
      )
    cluster.forgetToken()
  }
}

async function send(
  cluster: Cluster,
  path: string,
  silentMs: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(`${cluster.server.replace(/\/$/, '')}${path}`)
  const token = await cluster.token()
  const headers = {
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const client = new HttpClient({ tls: cluster.tls, keepsOpen: false })
  try {
    return await client.open({ method: 'GET', url, headers, signal, stalledMs: silentMs })
  } catch (error) {
    const { code, message } = PcpError.from(error)
    throw new PcpError(code, `${cluster.server}: ${message}`, { cause: error })
  }
}

async function problemOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part as string
    if (text.length > MOST_LINE) break
  }
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    if (typeof message === 'string') return message.slice(0, MOST_MESSAGE)
  } catch {
    // a proxy's page
  }
  return response.statusMessage ?? ''
}

function parse(text: string, { server }: Cluster): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `${server}: not JSON: ${(error as Error).message}`)
  }
}
