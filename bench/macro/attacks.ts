/**
 * Memory of `npm start` and latencies of an honest client under attack: `npm run attacks -- [--seconds N] [--only TEXT] [--files N]`.
 * Everything is restarted for each attack of lib/attacks.ts.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ATTACKS, type Target } from './lib/attacks.ts'
import { residentMb } from './lib/memory.ts'
import { RawClient } from './lib/raw-client.ts'
import { quantile } from './lib/report.ts'
import { partOf } from './lib/start-parts.ts'

const ATTACK_ARGUMENT = '--attack'
const PARTS = ['collector', 'recorder', 'charts'] as const
const METRICS = ['pmcd.version', 'kernel.all.load', 'mem.freemem']
/** Interval of the honest client's requests, ms. */
const PERIOD_MS = 20

const PORT = /listening +localhost:(\d+)/
const WEB_PORT = /http:\/\/[^:]+:(\d+)/

interface Running extends Target {
  readonly pid: number
  /** Returns its output so far. */
  readonly text: () => string
  stop(): Promise<void>
}

async function start(files: number): Promise<Running> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-attacks-'))
  const args = ['bin/pcp-ts', 'start', '--port', '0', '--web-port', '0', '--dir', dir]
  const line = ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', process.execPath, ...args]
  const child = spawn('sh', line, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  const found = (pattern: RegExp): number | undefined => {
    const port = pattern.exec(text)?.[1]
    return port === undefined ? undefined : Number(port)
  }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  while (found(PORT) === undefined || found(WEB_PORT) === undefined) await once(child.stdout, 'data')
  return {
    port: found(PORT)!,
    webPort: found(WEB_PORT)!,
    pid: child.pid!,
    text: () => text,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Milliseconds of each request sent until the signal; Infinity for failed requests. */
async function askRegularly(ask: () => Promise<void>, signal: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!signal.aborted) {
    const began = performance.now()
    let isAnswered = true
    await ask().catch(() => {
      isAnswered = false
    })
    const ms = performance.now() - began
    times.push(isAnswered ? ms : Number.POSITIVE_INFINITY)
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, PERIOD_MS - ms)))
  }
  return times
}

const agent = new Agent({ keepAlive: true })

function askWeb(port: number): Promise<void> {
  const path = `/pmapi/fetch?names=${METRICS.join()}`
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent }, (answer) => {
      answer
        .resume()
        .once('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`)),
        )
    })
    asked.on('error', reject)
    asked.end()
  })
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the resident megabytes of each part. */
function memory(pid: number): number[] {
  return PARTS.map((name) => {
    const part = partOf(pid, name)
    return part === undefined ? Number.NaN : residentMb(part)
  })
}

function pidsOf(pid: number): string {
  return PARTS.map((name) => partOf(pid, name)).join()
}

async function measure(name: string, seconds: number, files: number): Promise<string> {
  const running = await start(files)
  const client = await RawClient.open(running.port)
  const ids = await client.lookup(METRICS)
  const during = new AbortController()
  await askWeb(running.webPort)
  await pause(2000)
  const before = memory(running.pid)
  const pids = pidsOf(running.pid)
  const most = [...before]
  const sampler = setInterval(() => {
    memory(running.pid).forEach((mb, i) => {
      if (!(mb <= most[i]!)) most[i] = mb
    })
  }, 100)
  const attacker: ChildProcess = fork(process.argv[1]!, [ATTACK_ARGUMENT, name], { execArgv: [] })
  const isSent = once(attacker, 'message')
  attacker.send({ port: running.port, webPort: running.webPort })
  const times = Promise.all([
    askRegularly(async () => void (await client.fetchOnce(ids)), during.signal),
    askRegularly(() => askWeb(running.webPort), during.signal),
  ])
  await pause(seconds * 1000)
  const isOver = await Promise.race([isSent.then(() => true), pause(1).then(() => false)])
  during.abort()
  const [direct, web] = await times
  clearInterval(sampler)
  attacker.kill('SIGKILL')
  await pause(2000)
  const after = memory(running.pid)
  const survived = pidsOf(running.pid) === pids
  if (!survived) console.log(running.text())
  client.close()
  await running.stop()
  const columns = PARTS.map((_, i) => `${mbText(before[i]!)} ${mbText(most[i]!)} ${mbText(after[i]!)}`)
  const fate = `${survived ? '' : 'A PART DIED '}${isOver ? '' : '(still sending)'}`
  return `${name.padEnd(46)} | ${columns.join(' | ')} | ${timesText(direct)} | ${timesText(web)} | ${fate}`
}

const mbText = (mb: number): string => mb.toFixed(0).padStart(4)

function timesText(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const failed = times.filter((ms) => ms === Number.POSITIVE_INFINITY).length
  const text = [0.5, 0.99].map((q) => quantile(sorted, q).toFixed(1).padStart(7)).join(' ')
  return failed === 0 ? text : `${text} ${failed} failed`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      only: { type: 'string', default: '' },
      files: { type: 'string', default: '1024' },
    },
  })
  const load = readFileSync('/proc/loadavg', 'latin1').split(' ', 1)[0]
  console.log(
    `load of the machine ${load}; at most ${values.files} open files; resident MB before, at most, after; ms p50, p99`,
  )
  console.log(
    `${'attack'.padEnd(46)} | collector      | recorder       | charts         | pmcd client     | web client`,
  )
  for (const name of ['none', ...Object.keys(ATTACKS)])
    if (name.includes(values.only))
      console.log(await measure(name, Number(values.seconds), Number(values.files)))
}

const [, , argument, name = ''] = process.argv
if (argument === ATTACK_ARGUMENT) {
  process.once('message', (target: Target) => {
    const attack = ATTACKS[name] ?? (async () => undefined)
    void attack(target).then(() => process.send!('sent'))
  })
} else {
  await main()
  process.exit(0)
}
