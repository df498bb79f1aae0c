/**
 * A newcomer's path from the packed tarball, as an ordinary user: install, start, look, record, an agent of one's own, the names of commands, a
 * service's unit, upgrade from an older package, and removal. Once on a machine without PCP, once beside an installed one.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withoutPcp } from '../lib/without-pcp.ts'
import { hasReference } from './lib/programs.ts'

const top = process.cwd()
/** The last commit whose package had a name for each command, and no versions of its state. */
const BEFORE = '5e926cff'
const STEP_MS = 240_000

let root: string
let packed: string
/** The package of an earlier commit; undefined where its history is not there. */
let earlier: string | undefined

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1e8 })

/** Packs a checkout into a file of this name. */
function pack(from: string, name: string): string {
  const to = join(root, name)
  mkdirSync(to)
  const [made] = JSON.parse(
    run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], from),
  ) as [{ filename: string }]
  chmodSync(join(to, made.filename), 0o644)
  return join(to, made.filename)
}

/** Builds and packs the commit before. */
function packEarlier(): string | undefined {
  if (spawnSync('git', ['cat-file', '-e', `${BEFORE}^{commit}`], { cwd: top }).status !== 0) return undefined
  const from = join(root, 'earlier')
  mkdirSync(from)
  execFileSync('sh', ['-c', `git archive ${BEFORE} | tar x -C '${from}'`], { cwd: top })
  symlinkSync(join(top, 'node_modules'), join(from, 'node_modules'))
  run(process.execPath, ['scripts/build.mjs', '--bin'], from)
  return pack(from, 'packed-earlier')
}

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-newcomer-'))
  chmodSync(root, 0o755)
  packed = pack(top, 'packed')
  earlier = packEarlier()
  if (earlier === undefined) console.warn(`the upgrade is not tried: commit ${BEFORE} is not in this clone`)
}, STEP_MS)
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Returns the variables by which this machine reaches the registry of packages. */
function network(): Record<string, string> {
  const named = Object.entries(process.env).filter(([name]) =>
    /^(?:(?:https?|no|all)_proxy|node_extra_ca_certs|ssl_cert_(?:file|dir)|npm_config_(?:proxy|https_proxy|noproxy|cafile|registry))$/i.test(
      name,
    ),
  )
  return Object.fromEntries(named as [string, string][])
}

/** An ordinary user of a machine. */
class User {
  readonly home: string
  readonly prefix: string
  readonly #env: Record<string, string>
  readonly #ids: { readonly uid?: number; readonly gid?: number }

  constructor(hasPcp: boolean) {
    const { home, env, user } = withoutPcp(root)
    this.home = home
    this.#ids = user
    this.prefix = join(home, '.npm-global')
    const { NODE_OPTIONS: hiding, ...rest } = env
    this.#env = {
      ...network(),
      ...rest,
      ...(hasPcp ? {} : { NODE_OPTIONS: hiding! }),
      PATH: `${this.prefix}/bin:${this.#system(hasPcp)}`,
      NPM_CONFIG_PREFIX: this.prefix,
      NPM_CONFIG_CACHE: join(home, '.npm'),
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
      SHELL: '/bin/bash',
    }
    const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
    if (registry.startsWith('http')) this.#env['NPM_CONFIG_REGISTRY'] = registry
  }

  /** A PATH with PCP's programs, or one without. */
  #system(hasPcp: boolean): string {
    const node = dirname(realpathSync(process.execPath))
    if (hasPcp) return `${node}:/usr/bin:/bin`
    const bin = join(this.home, '..', `bin-${relative(root, this.home)}`)
    mkdirSync(bin)
    for (const folder of ['/bin', '/usr/bin', node])
      for (const name of readdirSync(folder))
        if (!/^(?:pm|pcp|mkaf|dbpmda|chkhelp|newhelp|sheet2pcp)/.test(name) && !existsSync(join(bin, name)))
          symlinkSync(join(folder, name), join(bin, name))
    return bin
  }

  /** Runs a command; resolves when it has ended. */
  async run(command: string, args: readonly string[], cwd: string = this.home) {
    const child = spawn(command, args, {
      cwd,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...this.#ids,
    })
    const text = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk
      })
    const [status] = (await once(child, 'close')) as [number | null]
    return { status, ...text }
  }

  /** Runs a command that must succeed; returns its output. */
  async must(command: string, ...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, args)
    expect(status, `${command} ${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
    return stdout
  }

  /** Starts an instance, and resolves when it has printed `until`. */
  async start(until: RegExp, command: string, ...args: readonly string[]): Promise<Running> {
    const child = spawn(command, args, {
      cwd: this.home,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...this.#ids,
    })
    const running = new Running(child)
    await running.printed(until)
    return running
  }

  install(file: string): Promise<string> {
    return this.must('npm', 'install', '--global', '--no-audit', '--no-fund', '--loglevel=error', file)
  }

  /** Returns the files below the home. */
  files(): readonly string[] {
    return readdirSync(this.home, { recursive: true, encoding: 'utf8' })
      .filter((name) => !statSync(join(this.home, name), { throwIfNoEntry: false })?.isDirectory())
      .sort()
  }
}

class Running {
  text = ''
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'close')
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        this.text += chunk
      })
  }

  async printed(pattern: RegExp): Promise<string> {
    await expect
      .poll(
        () => {
          if (this.#child.exitCode !== null) throw new Error(`ended: ${this.text}`)
          return this.text
        },
        { timeout: 60_000 },
      )
      .toMatch(pattern)
    return pattern.exec(this.text)![1] ?? ''
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#ended
  }
}

const ANY_PORTS = ['--port', '0', '--web-port', '0']
/** Where a user's state stays after removal. */
const STATE =
  /^\.(?:local\/state\/pcp|local\/share\/pcp|config\/pcp|cache\/pcp-ts|npm|npm-global\/lib\/node_modules\/\.package-lock\.json)(?:\/|$)/

/** Returns sizes and times of what PCP's packages installed, except logs and what its services write. */
function installedPcp(): readonly string[] {
  return ['/etc/pcp', '/usr/lib/pcp', '/usr/share/pcp', '/var/lib/pcp/pmns', '/var/lib/pcp/pmdas']
    .filter((dir) => existsSync(dir))
    .flatMap((dir) =>
      readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => {
        const { size, mtimeMs } = statSync(join(dir, name), { throwIfNoEntry: false }) ?? {}
        return `${join(dir, name)} ${size} ${mtimeMs}`
      }),
    )
}

const MACHINES = [false, ...(hasReference ? [true] : [])].map((hasPcp) => ({
  hasPcp,
  machine: hasPcp ? 'beside an installed PCP' : 'on a machine without PCP',
}))

describe.each(MACHINES)('$machine', ({ hasPcp }) => {
  test('from installation to removal', { timeout: 4 * STEP_MS }, async () => {
    const before = hasPcp ? installedPcp() : []
    const user = new User(hasPcp)

    // An older version has recorded.
    if (earlier !== undefined) {
      await user.install(earlier)
      const old = join(user.prefix, 'lib/node_modules/pcp-ts/bin/parts/start.cjs')
      const running = await user.start(/recording +(\S+)/, process.execPath, old, ...ANY_PORTS)
      await running.stop()
    }

    await user.install(packed)
    expect(readdirSync(join(user.prefix, 'bin'))).toEqual(['pcp-ts'])
    expect((await user.must('pcp-ts')).split('\n').length).toBeLessThan(60)

    // Start, look, record.
    const running = await user.start(/Ctrl-C stops everything/, 'pcp-ts', 'start', ...ANY_PORTS)
    const archive = await running.printed(/recording +(\S+)/)
    const web = await running.printed(/charts +(\S+)/)
    const page = await fetch(`${web}/ui/`)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<html')
    expect(await user.must('pcp-ts', 'pminfo', '-f', 'kernel.all.load')).toMatch(
      /inst \[1 or "1 minute"\] value/,
    )
    expect(await user.must('pcp-ts', 'status')).toContain(dirname(archive))
    await expect
      .poll(async () => (await user.run('pcp-ts', ['pmlogdump', archive])).stdout, {
        timeout: 60_000,
        interval: 1000,
      })
      .toContain('kernel.all.load')
    const doctor = await user.run('pcp-ts', ['doctor'])
    expect(doctor.stdout).toMatch(/node/i)
    const archives = readdirSync(dirname(archive)).filter((name) => name.endsWith('.index'))
    expect(archives.length).toBe(earlier === undefined ? 1 : 2)

    // An agent of one's own, while all runs.
    await user.must('pcp-ts', 'agent', 'new', 'demo')
    const folder = join(user.home, 'demo')
    const tested = await user.run('npm', ['test'], folder)
    expect(tested.status, tested.stdout + tested.stderr).toBe(0)
    const program = readdirSync(folder).find((name) => /^(?:demo|agent|index)\.m?js$/.test(name))!
    await user.must('pcp-ts', 'agent', 'add', join(folder, program))
    expect(await user.must('pcp-ts', 'pminfo', '-f', 'demo')).toMatch(/value/)
    expect(await user.must('pcp-ts', 'agent', 'list')).toMatch(/^demo .*\bok\b/m)
    await user.must('pcp-ts', 'agent', 'remove', 'demo')
    expect((await user.run('pcp-ts', ['pminfo', 'demo'])).status).not.toBe(0)

    // The names of commands, and a service's unit.
    const names = join(user.home, '.local/bin')
    await user.must('pcp-ts', 'link')
    expect(await user.must(join(names, 'pminfo'), '-f', 'kernel.all.load')).toContain('value')
    await user.must('pcp-ts', 'unlink')
    expect(existsSync(names) ? readdirSync(names) : []).toEqual([])
    const unit = await user.must('pcp-ts', 'service', 'install', '--user', '--dry-run')
    expect(unit).toMatch(/^ExecStart=.*pcp-ts.* start/m)
    expect(await user.must('pcp-ts', 'man', 'pminfo')).toContain('pminfo')

    await running.stop()
    expect((await user.run('pcp-ts', ['status'])).stdout).not.toContain(dirname(archive))

    // Removal.
    await user.must('npm', 'uninstall', '--global', 'pcp-ts')
    rmSync(folder, { recursive: true })
    expect(user.files().filter((name) => !STATE.test(name))).toEqual([])
    expect(readFileSync(`${archive}.meta`).length).toBeGreaterThan(0)
    if (hasPcp) expect(installedPcp()).toEqual(before)
  })
})
