/** A static web server with ranges, for pages of other origins, whose answers are delayed as by a distant network. */
import { open, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'Range',
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Max-Age': '600',
  'Accept-Ranges': 'bytes',
}

/** Serves the files of one directory. */
export class DelayedFiles {
  readonly #directory: string
  readonly #delayMs: number
  readonly #server: Server
  /** Answered requests, and bytes of their bodies. */
  requests = 0
  bytes = 0

  private constructor(directory: string, delayMs: number) {
    this.#directory = directory
    this.#delayMs = delayMs
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => response.destroy(error))
    })
  }

  /** Starts a server on a free port of loopback. */
  static async serve(directory: string, delayMs: number): Promise<DelayedFiles> {
    const files = new DelayedFiles(directory, delayMs)
    await new Promise<void>((resolve) => files.#server.listen(0, '127.0.0.1', resolve))
    return files
  }

  /** Address of the directory. */
  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #answer({ method, url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++
    await sleep(this.#delayMs)
    if (method === 'OPTIONS') return void response.writeHead(204, HEADERS).end()
    const path = join(this.#directory, basename(decodeURIComponent(url)))
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() !== true) return void response.writeHead(404, HEADERS).end()
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const from = first === undefined ? 0 : Number(first)
    const to = last === undefined ? found.size : Math.min(found.size, Number(last) + 1)
    const range = first === undefined ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${found.size}` }
    response.writeHead(first === undefined ? 200 : 206, { ...HEADERS, ...range, 'Content-Length': to - from })
    if (method === 'HEAD') return void response.end()
    const file = await open(path)
    try {
      const { buffer } = await file.read(Buffer.alloc(to - from), 0, to - from, from)
      this.bytes += buffer.length
      response.end(buffer)
    } finally {
      await file.close()
    }
  }
}
