/** The candidates of a macro benchmark: our collector and the reference's, each a process on a free port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { partOf } from './start-parts.ts'

/** A running collector. */
export interface Candidate {
  readonly name: string
  readonly port: number
  /** Process id of the collector, or of the page's server. */
  readonly pid: number
  stop(): Promise<void>
}

const REFERENCE = '/usr/lib/pcp/bin/pmcd'
const REFERENCE_CONF = '/etc/pcp/pmcd/pmcd.conf'
/** Options of our collector's process: BENCH_NODE_OPTIONS='--cpu-prof --cpu-prof-dir=/tmp/prof' writes a profile. */
const NODE_OPTIONS = (process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')

/** Checks whether the reference's collector is installed. */
export const hasReference = (): boolean => existsSync(REFERENCE)

/** Starts our collector as `npm start` configures it, without its recorder: built-in defaults, agents in its process. */
export async function startOurs(top: string, agents = 'linux,pmcd,simple'): Promise<Candidate> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
  const args = [
    ...NODE_OPTIONS,
    join(top, 'bin', 'pcp-ts'),
    'start',
    '--no-record',
    '--port',
    String(port),
    '--web-port',
    '0',
  ]
  const ours = await launch('ours', process.execPath, [...args, '--dir', dir, '--agents', agents], port, dir)
  return { ...ours, pid: partOf(ours.pid, 'collector')! }
}

/** Starts the chart page of `npm start` over the archives below `dir`/archives; `stop` removes `dir`. */
export async function startPage(
  top: string,
  dir: string,
  agents = 'linux,pmcd',
): Promise<Candidate & { readonly address: string }> {
  const [port, webPort] = [await freePort(), await freePort()]
  const args = [join(top, 'bin', 'pcp-ts'), 'start', '--no-record', '--agents', agents, '--dir', dir]
  const ports = ['--port', String(port), '--web-port', String(webPort)]
  const candidate = await launch('page', process.execPath, [...NODE_OPTIONS, ...args, ...ports], port, dir)
  return { ...candidate, pid: partOf(candidate.pid, 'charts')!, address: `http://localhost:${webPort}/` }
}

/** Starts our collector with our agents behind pipes, as the reference's are. */
export async function startOursOnPipes(top: string): Promise<Candidate> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
  const node = process.execPath
  const lines = [
    'pmcd 2 dso pmcd_init /pmda_pmcd.so',
    `linux 60 pipe binary ${node} ${join(top, 'bin', 'pmdalinux')}`,
    `simple 253 pipe binary ${node} ${join(top, 'bin', 'pmdasimple')}`,
  ]
  const args = [...NODE_OPTIONS, join(top, 'bin', 'pmcd'), ...filesIn(dir, lines, port)]
  return launch('ours', node, args, port, dir)
}

/** Starts the reference's collector with the agents of `domains` in its installed pmcd.conf. */
export async function startReference(domains: readonly number[] = [2, 60, 253]): Promise<Candidate> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-reference-'))
  const lines = readFileSync(REFERENCE_CONF, 'utf8')
    .split('\n')
    .filter((line) => domains.includes(Number(line.split(/\s+/)[1])))
  return launch('reference', REFERENCE, filesIn(dir, lines, port), port, dir, { PMCD_ROOT_AGENT: '0' })
}

/** Starts either collector with the agents in lines of a pmcd.conf, also on the unix socket `socket`. */
export async function startWith(
  whose: 'ours' | 'reference',
  top: string,
  lines: readonly string[],
  options: readonly string[] = [],
): Promise<Candidate & { readonly socket: string }> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), `pcp-${whose}-`))
  const files = [...filesIn(dir, lines, port), ...options]
  const socket = join(dir, 'pmcd.socket')
  const candidate =
    whose === 'ours'
      ? await launch(
          whose,
          process.execPath,
          [...NODE_OPTIONS, join(top, 'bin', 'pmcd'), ...files],
          port,
          dir,
        )
      : await launch(whose, REFERENCE, files, port, dir, { PMCD_ROOT_AGENT: '0' })
  return { ...candidate, socket }
}

/** Returns the command line for a collector with this configuration and its files in `dir`. */
function filesIn(dir: string, lines: readonly string[], port: number): string[] {
  const conf = join(dir, 'pmcd.conf')
  writeFileSync(conf, `${lines.join('\n')}\n`)
  return [
    ...['-f', '-c', conf],
    ...['-p', String(port)],
    ...['-s', join(dir, 'pmcd.socket')],
    ...['-l', join(dir, 'pmcd.log')],
  ]
}

async function launch(
  name: string,
  command: string,
  args: readonly string[],
  port: number,
  dir: string,
  extra: Record<string, string> = {},
): Promise<Candidate> {
  const env: NodeJS.ProcessEnv = { ...process.env, ...extra }
  delete env['NODE_EXTRA_CA_CERTS']
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'], cwd: dir })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await answering(port, child)
  return {
    name,
    port,
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGTERM')
      await gone
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Waits until the collector sends its greeting. */
async function answering(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with status ${child.exitCode}`)
    const answered = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('data', () => resolve(true) ?? socket.destroy())
      socket.once('error', () => resolve(false))
    })
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${child.spawnfile} does not answer on port ${port}`)
}
