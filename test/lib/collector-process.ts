/** A collector in a separate process, for tests that measure or attack it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { partOf } from '../../bench/macro/lib/start-parts.ts'

/** A running collector process. */
export interface CollectorProcess {
  readonly port: number
  /** Pid of the collector itself. */
  readonly pid: number
  /** Pid of the process that started it; the collector's own if none did. */
  readonly supervisor: number
  /** Directory of its files. */
  readonly dir: string
  /** Returns whether it ended by itself. */
  readonly hasEnded: () => boolean
  stop(): Promise<void>
}

/** Options of `startCollectorProcess`. */
export interface StartOptions {
  /** Also start the recorder. */
  readonly records?: boolean
  /** Adds files to the directory of `--dir` before the start. */
  readonly prepare?: (dir: string) => void
  readonly env?: NodeJS.ProcessEnv
  /** Further arguments of `npm start`. */
  readonly args?: readonly string[]
}

/** Runs `npm start` with these agents in the collector's process, and a limit on open files. */
export async function startCollectorProcess(
  agents: string,
  files?: number,
  { records = false, prepare, env: more, args: further = [] }: StartOptions = {},
): Promise<CollectorProcess> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-victim-'))
  const start = [process.execPath, join('bin', 'pcp-ts'), 'start', ...(records ? [] : ['--no-record'])]
  const line = [...start, '--port', '0', '--web-port', '0', '--dir', dir, '--agents', agents, ...further]
  prepare?.(dir)
  const limited = files === undefined ? line : ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh', ...line]
  const [command, ...args] = limited
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...env(), ...more } })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const listening = /listening +localhost:(\d+)/
  const closed = once(child, 'close')
  while (!listening.test(text)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The collector ended: ${text}`)
    await Promise.race([once(child.stdout, 'data'), closed])
  }
  const collector = running(child, Number(listening.exec(text)![1]), dir)
  const pid = partOf(child.pid!, 'collector')!
  // A collector that ends is restarted by its supervisor.
  return {
    ...collector,
    pid,
    hasEnded: () => collector.hasEnded() || partOf(child.pid!, 'collector') !== pid,
  }
}

/** Runs `bin/pmcd` with these configuration lines; agents start in its directory. */
export async function startPmcdProcess(
  lines: readonly string[],
  ...options: readonly string[]
): Promise<CollectorProcess> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-victim-'))
  const conf = join(dir, 'pmcd.conf')
  writeFileSync(conf, `${lines.join('\n')}\n`)
  const port = await freePort()
  const args = [
    join('bin', 'pmcd'),
    ...['-f', '-c', conf, '-p', String(port)],
    ...['-s', join(dir, 'pmcd.socket'), '-l', join(dir, 'pmcd.log')],
    ...options,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env: env() })
  return running(child, port, dir)
}

function running(child: ChildProcess, port: number, dir: string): CollectorProcess {
  let isStopping = false
  const ended = once(child, 'exit')
  return {
    port,
    pid: child.pid!,
    supervisor: child.pid!,
    dir,
    hasEnded: () => !isStopping && (child.exitCode !== null || child.signalCode !== null),
    stop: async () => {
      isStopping = true
      child.kill('SIGTERM')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function env(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
  return rest
}
