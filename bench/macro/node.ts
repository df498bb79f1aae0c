/**
 * Overhead of `pcp-ts/node/register` for an HTTP server that answers `hello`, measured with and without it in turn
 * because other load on the machine varies; also start-up, memory and idle CPU time.
 * `npm run bench -- node [rounds] [seconds a round]`
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [rounds = 8, seconds = 3] = process.argv.slice(2).map(Number)
const register = join('dist', 'esm', 'node-register.js')
if (!existsSync(register)) throw new Error(`${register} does not exist; run npm run build`)
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
const script = join(dir, 'hello.mjs')
writeFileSync(
  script,
  `import http from 'node:http'
const server = http.createServer((request, response) => response.end('hello'))
server.listen(0, '127.0.0.1', () => console.log(server.address().port, performance.now()))`,
)

interface Figures {
  readonly requests: number
  /** CPU time of the server per request; other load on the machine affects it less than the request rate. */
  readonly cpuUs: number
  readonly startMs: number
  readonly rssMb: number
  readonly idleShare: number
}

const WITHOUT: readonly string[] = []
const WITH = ['--import', join(process.cwd(), register)]
const results = new Map<readonly string[], Figures[]>([
  [WITHOUT, []],
  [WITH, []],
])
for (let round = 0; round < rounds; round++)
  for (const [options, figures] of results) figures.push(await measure(options))
const best = (options: readonly string[], pick: (figures: Figures) => number, choose = Math.min): number =>
  choose(...results.get(options)!.map(pick))
const [bare, measured] = [WITHOUT, WITH].map((options) => ({
  requests: best(options, ({ requests }) => requests, Math.max),
  cpuUs: best(options, ({ cpuUs }) => cpuUs),
  startMs: best(options, ({ startMs }) => startMs),
  rssMb: best(options, ({ rssMb }) => rssMb),
  idleShare: best(options, ({ idleShare }) => idleShare),
})) as [Figures, Figures]
/** Returns the median of the ratios of neighbouring rounds. */
const median = (pick: (figures: Figures) => number): string => {
  const ratios = results.get(WITHOUT)!.map((figures, i) => pick(results.get(WITH)![i]!) / pick(figures))
  return ratios.toSorted((a, b) => a - b)[ratios.length >> 1]!.toFixed(3)
}
console.log(`${rounds} rounds of ${seconds} s     without       with`)
const line = (what: string, pick: (figures: Figures) => string): void =>
  console.log(`${what.padEnd(22)} ${pick(bare).padStart(9)} ${pick(measured).padStart(10)}`)
line('requests a second', ({ requests }) => requests.toFixed(0))
line('CPU a request, µs', ({ cpuUs }) => cpuUs.toFixed(1))
line('start, ms', ({ startMs }) => startMs.toFixed(1))
line('memory, MB', ({ rssMb }) => rssMb.toFixed(1))
line('idle, % of a CPU', ({ idleShare }) => (idleShare * 100).toFixed(2))
console.log(
  `with to without, median of rounds: requests ${median(({ requests }) => requests)}, CPU ${median(({ cpuUs }) => cpuUs)}`,
)
rmSync(dir, { recursive: true })

async function measure(options: readonly string[]): Promise<Figures> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, [...options, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, PCP_TMP_DIR: dir },
  })
  const [text] = (await once(child.stdout!, 'data')) as [Buffer]
  const [port, startMs] = String(text).split(' ').map(Number) as [number, number]
  const before = cpuSeconds(child)
  await new Promise((done) => setTimeout(done, 2000))
  const idleShare = (cpuSeconds(child) - before) / 2
  await load(port, 0.5) // until the code is compiled
  const busyBefore = cpuSeconds(child)
  const count = await load(port, seconds)
  const cpuUs = ((cpuSeconds(child) - busyBefore) / count) * 1e6
  const requests = count / seconds
  const rssMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))?.[1]) / 1024
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  return { requests, cpuUs, startMs, rssMb, idleShare }
}

/** Counts answered requests of eight connections. */
async function load(port: number, durationSec: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const end = performance.now() + durationSec * 1000
  let count = 0
  const one = (): Promise<void> =>
    new Promise((done, fail) => {
      http
        .get({ port, host: '127.0.0.1', agent, path: `/orders/${count}` }, (response) => {
          response.resume().on('end', done)
        })
        .on('error', fail)
    })
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await one()
      count++
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  agent.destroy()
  return count
}

/** Returns the user and system time of a process, in seconds. */
function cpuSeconds({ pid }: ChildProcess): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
