/** Exchanges with Prometheus servers, recorded by test/interop/prometheus-store.test.ts with PCP_TS_RECORD=1 and answered again here. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request and its answer. */
export interface Exchange {
  readonly path: string
  /** Parameters of the URL or the form. */
  readonly parameters: string
  readonly status: number
  readonly body: string
}

/** A server on loopback. */
export interface LocalServer {
  readonly url: string
  readonly requests: readonly string[]
  close(): Promise<void>
}

/** Serves requests by a function; `parameters` are of the URL or the form. Adds the bodies to a list. */
export async function serve(
  answer: (path: string, parameters: string, response: ServerResponse, request: IncomingMessage) => unknown,
  bodies: Uint8Array[] = [],
): Promise<LocalServer> {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const body = Buffer.concat(chunks)
    bodies.push(body)
    const form = request.headers['content-type'] === 'application/x-www-form-urlencoded' ? String(body) : ''
    const { pathname, search } = new URL(request.url!, 'http://localhost')
    const parameters = form === '' ? search.slice(1) : form
    requests.push(`${pathname}?${decodeURIComponent(parameters.replaceAll('+', ' '))}`)
    await answer(pathname, parameters, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers as recorded; other requests fail. */
export function replay(exchanges: readonly Exchange[]): Promise<LocalServer> {
  return serve((path, parameters, response) => {
    const found = exchanges.find((each) => each.path === path && each.parameters === parameters)
    response.writeHead(found?.status ?? 500).end(found?.body ?? `not recorded: ${path}?${parameters}`)
  })
}

/** Forwards requests, and adds them to a list. */
export function record(url: string, exchanges: Exchange[]): Promise<LocalServer> {
  return serve(async (path, parameters, response, { method }) => {
    const answer = await (method === 'GET'
      ? fetch(`${url}${path}?${parameters}`)
      : fetch(`${url}${path}`, {
          method: 'POST',
          body: parameters,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }))
    const body = await answer.text()
    const isKnown = exchanges.some((each) => each.path === path && each.parameters === parameters)
    if (!isKnown) exchanges.push({ path, parameters, status: answer.status, body })
    response.writeHead(answer.status).end(body)
  })
}
