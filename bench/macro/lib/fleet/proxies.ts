/**
 * Answers of `/series/query` over a key server: our pmproxy and the reference's, which reads the same keys. They take turns, so that both
 * see the same load of the machine.
 */
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { residentMb, treeCpuMs } from '../memory.ts'
import { quantile, table } from '../report.ts'
import { listening, start, stop } from './processes.ts'
import { fleetQueries, type Span } from './queries.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmproxy'
/** Milliseconds after which an answer counts as missed: the reference's pmproxy has hung. */
const ANSWER_MS = 10_000
const NO_ANSWER = 'no answer'
const OURS = ['values', 'bytes', 'p50 ms', 'CPU ms']
const HEADINGS = ['query', ...OURS, ...OURS.map((each) => `their ${each}`), 'ratio', 'different']

/** A pmproxy over the key server. */
interface Proxy {
  readonly child: ChildProcess
  readonly port: number
}

/** Answers of one pmproxy to one query, without the first. */
interface Answered {
  readonly body: string
  readonly p50Ms: number
  readonly cpuMs: number
}

/** Sends the queries to both, each `runs` times after one more, and prints a table; needs the reference. */
export async function compareProxies(keyPort: number, dir: string, span: Span, runs: number): Promise<void> {
  if (!existsSync(REFERENCE)) return console.log(`${REFERENCE} is not installed: nothing to compare with\n`)
  const proxies: Proxy[] = []
  try {
    proxies.push(
      await startProxy([process.execPath, join(process.cwd(), 'bin/pmproxy')], keyPort, join(dir, 'ours')),
    )
    proxies.push(await startProxy([REFERENCE], keyPort, join(dir, 'theirs')))
    const rows: string[][] = []
    for (const [what, text] of fleetQueries(span)) {
      const [ours, theirs] = await answersOf(proxies, text, runs)
      rows.push([what, ...cellsOf(ours), ...cellsOf(theirs), ...comparison(ours, theirs)])
    }
    const [ours, theirs] = proxies.map(({ child }) => `${residentMb(child.pid!).toFixed(0)} MB`)
    console.log(`pmproxy over the key server: resident ${ours}; the reference's: ${theirs}`)
    console.log(`${table([HEADINGS, ...rows])}\n`)
  } finally {
    await Promise.all(proxies.map(({ child }) => stop(child)))
  }
}

/** Starts a pmproxy over the key server. */
async function startProxy(
  [program, ...before]: readonly string[],
  keyPort: number,
  dir: string,
): Promise<Proxy> {
  mkdirSync(dir, { recursive: true })
  const config = join(dir, 'pmproxy.conf')
  writeFileSync(config, configuration(keyPort))
  const port = await freePort()
  const args = ['-f', '-p', String(port), '-c', config, '-l', join(dir, 'pmproxy.log'), '-U', 'root']
  const child = start(program!, [...before, ...args], dir)
  try {
    await listening(child, port)
  } catch (error) {
    await stop(child)
    throw error
  }
  return { child, port }
}

/** Sends a query to each in turn; undefined for a proxy after a missed answer, which gets no further requests of this query. */
async function answersOf(
  proxies: readonly Proxy[],
  text: string,
  runs: number,
): Promise<readonly (Answered | undefined)[]> {
  const measured = proxies.map(({ child, port }) => ({
    pid: child.pid!,
    port,
    times: [] as number[],
    cpuMs: 0,
  }))
  const bodies: (string | undefined)[] = proxies.map(() => '')
  for (let run = 0; run <= runs; run++)
    for (const [i, each] of measured.entries()) {
      if (bodies[i] === undefined) continue
      if (run === 1) each.cpuMs = -treeCpuMs(each.pid)
      const begun = performance.now()
      bodies[i] = await answer(each.port, text)
      if (run > 0) each.times.push(performance.now() - begun)
      if (run === runs) each.cpuMs += treeCpuMs(each.pid)
    }
  return measured.map(({ times, cpuMs }, i) => {
    const body = bodies[i]
    if (body === undefined) return undefined
    times.sort((a, b) => a - b)
    return { body, p50Ms: quantile(times, 0.5), cpuMs: cpuMs / runs }
  })
}

/** Returns an answer, uncompressed because the reference does not compress; undefined if it is late or an error, or the connection is lost. */
async function answer(port: number, text: string): Promise<string | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/series/query?expr=${encodeURIComponent(text)}`, {
      headers: { 'Accept-Encoding': 'identity' },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const body = await response.text()
    return response.ok ? body : undefined
  } catch {
    return undefined
  }
}

function cellsOf(answered: Answered | undefined): readonly string[] {
  if (answered === undefined) return [NO_ANSWER, '', '', '']
  const { body, p50Ms, cpuMs } = answered
  return [String(valuesIn(body).length), String(body.length), p50Ms.toFixed(1), cpuMs.toFixed(1)]
}

/** Returns the ratio of the times, and how many values differ. */
function comparison(ours: Answered | undefined, theirs: Answered | undefined): readonly string[] {
  if (ours === undefined || theirs === undefined) return ['', '']
  const [mine, others] = [valuesIn(ours.body), valuesIn(theirs.body)]
  const count = Math.max(mine.length, others.length)
  const different = Array.from({ length: count }, (_, i) => mine[i] !== others[i]).filter(Boolean).length
  return [(theirs.p50Ms / ours.p50Ms).toFixed(2), String(different)]
}

/**
 * Returns series, or times and values, in order. Bytes differ for the same values: we write microseconds as decimals (`.000`) where the
 * reference writes their number (`.0`), and a sum across instances names its series, so that hosts remain distinct, where the
 * reference's `instance` is empty. The reference's rate of an unchanged counter is `-0.000000`.
 */
function valuesIn(body: string): readonly string[] {
  const items: readonly (string | { readonly timestamp: number; readonly value: string })[] = JSON.parse(body)
  return items.map((item) =>
    typeof item === 'string' ? item : `${item.timestamp} ${item.value.replace(/^-(0\.0+)$/, '$1')}`,
  )
}

/** Both read the names of 6.0. */
function configuration(keyPort: number): string {
  return `[pmproxy]
http.enabled = true
pcp.enabled = true
redis.enabled = true
[redis]
servers = localhost:${keyPort}
[discover]
enabled = false
[pmseries]
enabled = true
servers = localhost:${keyPort}
`
}
