/**
 * Hundreds of thousands of malformed inputs to a pmproxy: requests, frames of pages, time control messages, forwarded PDUs and relayed
 * commands. Each request is answered, none with a 500, and nothing is left behind. PCP_TS_FUZZ_REQUESTS sets the number of
 * requests, PCP_TS_SEED the seed; `npm run fuzz:web` sends 300,000.
 */
import { createServer, type Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LIMITS } from '../../src/pmproxy/limits.ts'
import { PAGE_ROUTES } from '../../src/pmproxy/routes/page-api.ts'
import { attackAsClients } from '../lib/client-attack.ts'
import { eventually } from '../lib/eventually.ts'
import { heapMb } from '../lib/fuzz-report.ts'
import { seed as runSeed } from '../lib/seed.ts'
import {
  attackBySockets,
  damagedCommand,
  damagedFrame,
  damagedTimeMessage,
  PAGE_GREETING,
} from '../lib/socket-attack.ts'
import { attackByHttp, ENDPOINTS, TOGETHER } from '../lib/web-attack.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const REQUESTS = Number(process.env['PCP_TS_FUZZ_REQUESTS'] ?? 20_000)
/** Most memory that tens of thousands of messages may leave behind, in megabytes. */
const MEMORY_MB = 48
/** Timeout for a busy machine, ms. */
const PATIENCE_MS = 60_000 + REQUESTS * 20

let server: WebServer
/** Echoes its input. */
let echo: Server
beforeAll(async () => {
  // Most requests fail, and stack traces are not used.
  Error.stackTraceLimit = 0
  echo = createServer((socket) => void socket.on('error', () => undefined).pipe(socket))
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  const { port } = echo.address() as { port: number }
  server = await startWebServer(
    ['pmcd', 'sample', 'simple'],
    {
      allowsStore: true,
      archiveDirs: ['test/fixtures'],
      pageDir: 'docs',
      keys: { servers: [{ host: '127.0.0.1', port }] },
    },
    {
      proxy: {
        timePort: 0,
        // A busy machine may prolong waits without a limit.
        limits: {
          pipelined: TOGETHER,
          stalledMs: PATIENCE_MS,
          archives: { ...LIMITS.archives, waitMs: PATIENCE_MS },
        },
      },
    },
  )
})
afterAll(async () => {
  await server.close()
  echo.close()
})

const listed = (counts: ReadonlyMap<string | number, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, count]) => `${key} ${count}`)
    .join(', ')

/** Runs an attack in `parts`, after a warm-up: memory must not keep growing. */
async function inParts(
  count: number,
  parts: number,
  attack: (count: number, seed: number) => Promise<void>,
): Promise<void> {
  await attack(Math.ceil(count / parts), runSeed)
  const heap = [await quietHeapMb()]
  for (let part = 1; part < parts; part++) {
    await attack(Math.ceil(count / parts), runSeed + part)
    heap.push(await quietHeapMb())
    console.log(
      `${part + 1} of ${parts} parts; heap after each: ${heap.map((mb) => mb.toFixed(0)).join(', ')} MB`,
    )
  }
  await eventually(() => expect(heapMb() - heap[0]!).toBeLessThan(MEMORY_MB))
  expect(server.notices.filter((notice) => notice.startsWith('error'))).toEqual([])
  expect((await server.ask('/pmapi/fetch?names=sample.long.one')).status).toBe(200)
}

async function quietHeapMb(): Promise<number> {
  await eventually(() => expect(server.proxy.statistics.pages).toBe(0))
  // V8 releases buffers some time after it collected their owners.
  let [before, now] = [Number.POSITIVE_INFINITY, heapMb()]
  while (now < before - 1) {
    await setTimeout(100)
    before = now
    now = heapMb()
  }
  return now
}

test('all routes of the page are attacked', () => {
  expect(PAGE_ROUTES.filter((name) => ENDPOINTS[`/ui/api/${name}`] === undefined)).toEqual([])
})

test('no request gets a 500', { timeout: PATIENCE_MS }, async () => {
  const contexts: number[] = []
  for (let i = 0; i < 4; i++)
    contexts.push((await server.json<{ context: number }>('/pmapi/context?polltimeout=3600')).context)
  const { archives } = await server.json<{ archives: { id: string; bytes: number }[] }>('/ui/api/archives')
  const ids = {
    contexts,
    archives: archives
      .sort((a, b) => a.bytes - b.bytes)
      .slice(0, 5)
      .map(({ id }) => id),
  }
  const parts = 10
  const totals = {
    byEndpoint: new Map<string, number>(),
    byDamage: new Map<string, number>(),
    byStatus: new Map<number, number>(),
  }
  let [requests, unanswered] = [0, 0]
  await inParts(REQUESTS, parts, async (count, seed) => {
    const report = await attackByHttp(server.proxy.port, count, seed, ids)
    expect(report.faults.slice(0, 10)).toEqual([])
    requests += report.requests
    unanswered += report.unanswered
    for (const name of ['byEndpoint', 'byDamage', 'byStatus'] as const)
      for (const [key, n] of report[name] as Map<never, number>)
        (totals[name] as Map<never, number>).set(
          key,
          ((totals[name] as Map<never, number>).get(key) ?? 0) + n,
        )
  })
  console.log(
    `${requests} requests, ${unanswered} of which are not of HTTP; answers: ${listed(totals.byStatus)}\n${listed(totals.byDamage)}\n${listed(totals.byEndpoint)}`,
  )
  expect(unanswered).toBeLessThan(requests / 100)
})

test('no frame of a page ends it', { timeout: PATIENCE_MS }, async () => {
  await inParts(REQUESTS / 10, 4, async (count, seed) => {
    const { sent, connections, closed, byDamage } = await attackBySockets(
      server.proxy.port,
      count,
      seed,
      damagedFrame,
      PAGE_GREETING,
    )
    console.log(
      `${sent} frames, ${connections} connections, ${closed} closed by the server; ${listed(byDamage)}`,
    )
  })
})

test('no message about the time ends it', { timeout: PATIENCE_MS }, async () => {
  await inParts(REQUESTS / 10, 4, async (count, seed) => {
    const { sent, connections, closed, byDamage } = await attackBySockets(
      server.proxy.timePort!,
      count,
      seed,
      damagedTimeMessage,
    )
    console.log(
      `${sent} messages, ${connections} connections, ${closed} closed by the server; ${listed(byDamage)}`,
    )
  })
})

test('no command for a key server ends it', { timeout: PATIENCE_MS }, async () => {
  await inParts(REQUESTS / 10, 4, async (count, seed) => {
    const { sent, connections, closed } = await attackBySockets(
      server.proxy.port,
      count,
      seed,
      damagedCommand,
    )
    console.log(`${sent} commands, ${connections} connections, ${closed} closed by the server`)
  })
})

test('no PDU that is forwarded ends it', { timeout: PATIENCE_MS }, async () => {
  const behind = `localhost ${server.collector.port}`
  await inParts(REQUESTS / 10, 4, async (count, seed) => {
    const { mutants, passed, connections, closed, replies } = await attackAsClients(
      server.proxy.port,
      count,
      seed,
      behind,
    )
    console.log(
      `${mutants} PDUs, ${passed} past framer and decoder; ${connections} connections, ${closed} closed; ${replies} replies`,
    )
    expect(replies).toBeGreaterThan(0)
  })
})
