/** Attacks on a running `npm start`, run in a separate process. */
import { Agent, type RequestOptions, request } from 'node:http'
import { WebSocket } from 'ws'
import { domains, Flood, profiles, traversals } from './floods.ts'

/** The attacked ports. */
export interface Target {
  /** Port of the collector. */
  readonly port: number
  /** Port of the chart page. */
  readonly webPort: number
}

/** Runs an attack; resolves when everything is sent. Its connections stay open until its process ends. */
export type Attack = (target: Target) => Promise<void>

const flood = new Flood()
const MIB = 2 ** 20

/** Attacks by name. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'idle clients, 1,100': ({ port }) => many(1100, 50, () => flood.open(port, new Uint8Array(0))),
  'idle web connections, 1,100': ({ webPort }) =>
    many(1100, 50, () => flood.open(webPort, new Uint8Array(0))),
  'half a PDU, 800 clients': ({ port }) =>
    many(800, 50, () => flood.open(port, profiles(1, 15_000).subarray(0, 50_000))),
  'profiles, 300 clients of 64 x 16,000': ({ port }) => {
    const bytes = profiles(64, 16_000)
    return many(300, 4, () => flood.open(port, bytes))
  },
  'profiles, 300 clients of 10 x 4,000 domains': ({ port }) => {
    const bytes = domains(10, 4000)
    return many(300, 4, () => flood.open(port, bytes))
  },
  'unread traversals, 40 clients of 500': ({ port }) => {
    const bytes = traversals(500)
    return many(40, 40, () => flood.open(port, bytes))
  },
  'posted profiles, 3,000 of 9,000 instances': ({ webPort }) => {
    const ids = Array.from({ length: 9000 }, (_, i) => i * 3).join()
    return many(3000, 8, () =>
      post(webPort, '/pmapi/profile?polltimeout=600', `expr=add&indom=60.1&instance=${ids}`),
    )
  },
  'posted expressions, 1,000 of 15,000 characters': ({ webPort }) => {
    const body = `a.b = 1${' '.repeat(15_000)}+ 1\n`
    return many(1000, 8, () => post(webPort, '/pmapi/derive?polltimeout=600', body))
  },
  'bodies without an end, 500 of 1 MiB': ({ webPort }) => {
    const head = `POST /pmapi/derive HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MIB}\r\n\r\n`
    const bytes = Buffer.from(head + 'x'.repeat(MIB - 1))
    return many(500, 8, () => flood.open(webPort, bytes))
  },
  'unread answers, 300 connections of 60': ({ webPort }) => {
    const bytes = Buffer.from('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(60))
    return many(300, 20, () => flood.open(webPort, bytes))
  },
  'failed logins over the web, 1,000': ({ webPort }) =>
    many(1000, 8, () => get(webPort, '/pmapi/context?hostspec=localhost', 'joe:wrong')),
  'live pages, 50 of 200 subscriptions': ({ webPort }) => many(50, 5, () => subscribe(webPort)),
}

async function many(count: number, atOnce: number, one: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const agent = new Agent({ keepAlive: true })

function post(port: number, path: string, body: string): Promise<void> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  }
  return ask({ port, path, method: 'POST', headers, agent }, body)
}

function get(port: number, path: string, auth: string): Promise<void> {
  return ask({ port, path, auth, agent })
}

/** Sends a request, and ignores the response. */
function ask(options: RequestOptions, body?: string): Promise<void> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', ...options }, (answer) => {
      answer.resume().once('close', resolve)
    })
    asked.on('error', () => resolve())
    asked.end(body)
  })
}

function subscribe(port: number): Promise<void> {
  const page = new WebSocket(`ws://127.0.0.1:${port}/ui/api/live`)
  const metrics = Array.from({ length: 1000 }, (_, i) => `kernel.${'x'.repeat(60)}.m${i}`)
  return new Promise((resolve) => {
    page.on('error', () => resolve())
    page.once('close', () => resolve())
    page.once('open', () => {
      for (let key = 0; key < 200; key++)
        page.send(
          JSON.stringify({
            subscribe: String(key),
            every: 1,
            metrics: metrics.map((name) => `${name}${key}`),
          }),
        )
      page.pause()
      resolve()
    })
  })
}
