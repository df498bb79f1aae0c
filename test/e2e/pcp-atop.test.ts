/** atop in a pseudo terminal, over pipes, and recording: behaviour that needs real processes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { hostArchive } from '../tools/pcp/host-archive.ts'

const ATOP = join('bin', 'pcp-atop')
const hasScript = spawnSync('script', ['--version']).status === 0

let collector: CollectorProcess
let dir: string

beforeAll(async () => {
  collector = await startCollectorProcess('pmcd,linux,proc')
  dir = mkdtempSync(join(tmpdir(), 'atop-e2e-'))
})
afterAll(async () => {
  await collector.stop()
  rmSync(dir, { recursive: true, force: true })
})

const env = (): NodeJS.ProcessEnv => ({
  ...process.env,
  // Over the collector's socket: process metrics are shown only to identified users.
  PCP_CONF: join(collector.dir, 'etc', 'pcp.conf'),
  PCP_HOST: undefined,
  HOME: dir,
  TERM: 'xterm',
  NODE_EXTRA_CA_CERTS: undefined,
})

/** atop in a terminal of a given size; its output is in `text`. */
class Session {
  text = ''
  readonly #child: ChildProcess
  readonly ended: Promise<number | null>
  #wake: () => void = () => {}

  /** `beside` is run by the terminal's shell (`$tty`) before atop starts. */
  constructor(rows: number, columns: number, args: string, beside = '') {
    const atop = `exec ${process.execPath} ${ATOP} ${args}`
    const line = `stty rows ${rows} cols ${columns}; tty=$(tty); ${beside} ${atop}`
    this.#child = spawn('script', ['-qec', line, '/dev/null'], {
      env: env(),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      this.text += chunk
      this.#wake()
    })
    this.ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  type(keys: string): void {
    this.text = ''
    this.#child.stdin!.write(keys)
  }

  /** Waits until the output matches. */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text))
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }
}

/** A heading as wide as the narrower window. */
const NARROW = /ATOP - [ -~]{1,43}[^ -~].*PID/s

describe.skipIf(!hasScript)('atop on a terminal', () => {
  test('uses the alternate screen, reacts to keys, and restores the terminal', async () => {
    const atop = new Session(24, 80, '60')
    await atop.until(/PID SYSCPU/)
    expect(atop.text.indexOf('\x1b[?1049h')).toBeGreaterThanOrEqual(0)
    expect(atop.text).toMatch(/ATOP - /)
    expect(atop.text).toContain('since Boot')
    atop.type('m')
    await atop.until(/VSTACK/)
    atop.type('h')
    await atop.until(/Columns of processes/)
    atop.type('q')
    await atop.until(/VSTACK/)
    atop.type('P')
    await atop.until(/Pattern for programs/)
    atop.type('node\r')
    await atop.until(/P-----/)
    atop.type('t')
    await atop.until(/elapsed/)
    atop.type('q')
    expect(await atop.ended).toBe(0)
    expect(atop.text.endsWith('\x1b[0m\x1b[?25h\x1b[?1049l')).toBe(true)
  })

  test('fits a narrow and low window', async () => {
    const atop = new Session(8, 30, '60')
    await atop.until(/PID/)
    atop.type('q')
    expect(await atop.ended).toBe(0)
  })

  test('goes through an archive, follows the size of the window, and ends with ^C', async () => {
    const archive = hostArchive()
    const pipe = join(dir, 'resize')
    spawnSync('mkfifo', [pipe])
    const atop = new Session(
      24,
      100,
      `--archive ${archive.path} 1`,
      `(read _ < ${pipe}; stty -F "$tty" rows 12 cols 50) &`,
    )
    await atop.until(/00:00:01 .*PID/s)
    atop.type('t')
    await atop.until(/00:00:02 .*PID/s)
    atop.type('T')
    await atop.until(/00:00:01 .*PID/s)
    atop.text = ''
    writeFileSync(pipe, 'now\n')
    await atop.until(NARROW)
    atop.type('\x03')
    expect(await atop.ended).toBe(0)
    expect(atop.text.endsWith('\x1b[0m\x1b[?25h\x1b[?1049l')).toBe(true)
    archive.remove()
  })

  test('ends by itself after its samples, with the terminal restored', async () => {
    const atop = new Session(24, 80, '1 2')
    expect(await atop.ended).toBe(0)
    expect(atop.text.endsWith('\x1b[?1049l')).toBe(true)
  })

  test('reports a wrong source before it takes over the terminal', async () => {
    const atop = new Session(24, 80, '--host localhost:1 5')
    expect(await atop.ended).toBe(1)
    expect(atop.text).not.toContain('\x1b[?1049h')
    expect(atop.text).toContain('Cannot connect')
  })
})

describe('atop without a terminal', () => {
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, [ATOP, ...args], { env: env(), encoding: 'utf8', maxBuffer: 2 ** 26 })

  test('writes samples as text', () => {
    const { status, stdout, stderr } = run(['-a', '1', '2'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.match(/^ATOP - /gm)).toHaveLength(2)
    expect(stdout).toMatch(/^CPL \| numcpu/m)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(81)
  })

  test('writes lines for programs', () => {
    const { status, stdout, stderr, error } = run(['-P', 'CPU,MEM,PRG', '1', '2'])
    expect({ status, stderr, error }).toEqual({ status: 0, stderr: '', error: undefined })
    const lines = stdout.trim().split('\n')
    expect(lines[0]).toBe('RESET')
    expect(lines.filter((line) => line === 'SEP')).toHaveLength(2)
    expect(lines.filter((line) => line.startsWith('CPU '))).toHaveLength(2)
    expect(lines.some((line) => line.startsWith(`PRG `) && line.includes(` ${collector.pid} (`))).toBe(true)
  })

  test('ends quietly when the reader goes away', () => {
    const line = `${process.execPath} ${ATOP} -a 1 | head -1; echo "status \${PIPESTATUS[0]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', line], { env: env(), encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout.trim()).toBe('status 141')
  })

  test.skipIf(!existsSync(join('bin', 'pmlogger')))('records a folio, and replays it', () => {
    const folder = join(dir, 'record')
    expect(run(['-w', folder, '1', '4']).status).toBe(0)
    expect(readFileSync(join(folder, 'record.folio'), 'utf8')).toMatch(/^PCPFolio\nVersion: 1\n/)
    const { status, stdout, stderr } = run(['-r', folder, '1'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^PRC \| sys/m)
    expect(stdout).toMatch(/node|npm/)
  })

  test('reports each error in one line, with the usage text', () => {
    const { status, stderr } = run(['-P', 'NIX', 'soon', '0'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/label not found: NIX\n/)
    expect(stderr).toMatch(/"soon" is not an interval/)
    expect(stderr).toMatch(/"0" is not a number of samples\n/)
    expect(stderr).toMatch(/^Usage: pcp-atop /m)
  })
})
