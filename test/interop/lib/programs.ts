/** Programs for interop tests: the reference's commands, and collectors of both sides, each on a free port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../bench/macro/lib/free-port.ts'

export const top: string = process.cwd()
const REFERENCE_PMCD = '/usr/lib/pcp/bin/pmcd'

/** Whether Debian's PCP is installed. */
export const hasReference: boolean = existsSync(REFERENCE_PMCD)
if (!hasReference) console.log('skipped: the reference (Debian package pcp) is not installed')

/** Output and status of a command. */
export interface Printed {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Returns an environment without this shell's PCP settings. */
export function plainEnv(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, TZ: 'UTC', ...extra }
  delete env['NODE_EXTRA_CA_CERTS']
  for (const name of Object.keys(env)) if (/^(PCP|PMCD)_/.test(name) && !(name in extra)) delete env[name]
  return env
}

/** Timeout of a command on a busy machine. */
const TIMEOUT_MS = 100_000

/** Runs a command to its end. Rejects with its output if it takes longer than `timeoutMs`. */
export function run(
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; timeoutMs?: number; cwd?: string } = {},
): Promise<Printed> {
  const { timeoutMs = TIMEOUT_MS } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: plainEnv(options.env),
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: options.cwd,
    })
    let isLate = false
    const limit = setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, timeoutMs)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (status) => {
      clearTimeout(limit)
      if (!isLate) return resolve({ status, stdout, stderr })
      const what = [command, ...args].join(' ')
      reject(new Error(`${what}\nnot finished after ${timeoutMs / 1000} s; it printed\n${stdout}${stderr}`))
    })
  })
}

/** A collector started by a test. */
export interface TestCollector {
  readonly port: number
  /** For `-h`. */
  readonly host: string
  /** State directory. */
  readonly dir: string
  /** Returns its output so far. */
  printed(): string
  stop(): Promise<number | null>
}

/** Starts `npm start` without the build. */
export function startOurs(...options: string[]): Promise<TestCollector> {
  return startOursWith('', ...options)
}

/** Starts our services with a pmproxy.conf. */
export async function startOursWith(pmproxyConf: string, ...options: string[]): Promise<TestCollector> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-interop-'))
  if (pmproxyConf !== '') {
    mkdirSync(join(dir, 'etc', 'pmproxy'), { recursive: true })
    writeFileSync(join(dir, 'etc', 'pmproxy', 'pmproxy.conf'), pmproxyConf)
  }
  const args = [join(top, 'bin', 'pcp-ts'), 'start', '--port', String(port), '--dir', dir, ...options]
  return launch(process.execPath, args, port, dir)
}

/**
 * Starts the reference's collector. `agents` are lines of its pmcd.conf, or names of agents with lines in the installed
 * pmcd.conf.
 */
export async function startReference(agents: readonly string[]): Promise<TestCollector> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-reference-'))
  const installed = readFileSync('/etc/pcp/pmcd/pmcd.conf', 'utf8').split('\n')
  const lines = agents.map((agent) =>
    agent.includes(' ') ? agent : (installed.find((line) => line.split(/\s+/)[0] === agent) ?? agent),
  )
  writeFileSync(join(dir, 'pmcd.conf'), `${lines.join('\n')}\n`)
  const files = ['-c', join(dir, 'pmcd.conf'), '-s', join(dir, 'pmcd.socket'), '-l', join(dir, 'pmcd.log')]
  // By default it drops agents after five seconds, which is too short on a busy machine.
  return launch(REFERENCE_PMCD, ['-f', '-t', '60', '-p', String(port), ...files], port, dir)
}

/** Starts a collector in its state directory; resolves once it accepts clients. */
export async function launch(
  command: string,
  args: readonly string[],
  port: number,
  dir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestCollector> {
  const env = plainEnv({ PMCD_ROOT_AGENT: '0', ...settings })
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: dir })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  const gone = new Promise<number | null>((resolve) => child.once('exit', (status) => resolve(status)))
  await answering(port, child, () => text)
  return {
    port,
    host: `localhost:${port}`,
    dir,
    printed: () => text,
    stop: async () => {
      child.kill('SIGTERM')
      const status = await gone
      rmSync(dir, { recursive: true, force: true })
      return status
    },
  }
}

/** Returns whether a process listens on this unix socket, which exists a little earlier. */
export function isListening(path: string): boolean {
  // Number, protocol, and flags: 0x10000 means that it accepts connections.
  const rows = readFileSync('/proc/net/unix', 'utf8').split('\n')
  return rows.some((row) => row.endsWith(` ${path}`) && /^\S+ \S+ \S+ 00010000 /.test(row))
}

/** Waits until the collector accepts clients. */
async function answering(port: number, child: ChildProcess, printed: () => string): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if (child.exitCode !== null)
      throw new Error(`${child.spawnfile} ended with ${child.exitCode}: ${printed()}`)
    const answered = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('data', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${child.spawnfile} does not respond on port ${port}: ${printed()}`)
}
