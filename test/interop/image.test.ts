/**
 * The container image, built from deploy/image/Dockerfile unchanged and run by podman. No registry is needed: the base images are made of this
 * machine's own files, with its Node, and apt-get does nothing there because everything is installed.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/pmapi/index.ts'

const top = process.cwd()
/** Programs of the base images; sh is this machine's. */
const PROGRAMS = [
  ...['/bin/sh', '/usr/bin/node', '/usr/bin/tini', '/usr/bin/strip', '/usr/bin/mkdir', '/usr/bin/chmod'],
  ...['/usr/bin/ln', '/usr/bin/rm', '/usr/bin/id', '/usr/bin/touch', '/usr/bin/sleep', '/usr/bin/cat'],
]
const ENGINES = ['/usr/bin/podman', '/usr/bin/buildah', '/usr/bin/runc']
const REGISTRY = 'localhost/pcp-ts-test'
const IMAGE = 'localhost/pcp-ts-image-test'
/** Bytes of the layers that the Dockerfile adds to its base, after compression. */
const MOST_PACKED_BYTES = 60_000_000

/** Returns why the image cannot be built here. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root'
  const missing = [...ENGINES, ...PROGRAMS].find((path) => !existsSync(path))
  if (missing !== undefined) return `needs ${missing}: apt-get install podman buildah runc tini binutils`
  return undefined
}

const reason = obstacle()
if (reason !== undefined) process.stderr.write(`image.test.ts: skipped, ${reason}\n`)

let dir: string
let ports: readonly [number, number]
let started = 0

const storage = (): string[] => [
  '--storage-driver=vfs',
  '--root',
  join(dir, 'store'),
  '--runroot',
  join(dir, 'run'),
]

/** Limits of this process: an engine without CAP_SYS_RESOURCE cannot raise them. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: dir,
  CONTAINERS_CONF: join(dir, 'containers.conf'),
})

function buildah(...args: string[]): string {
  return execFileSync('buildah', [...storage(), ...args], {
    env: environment(),
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()
}

function podman(...args: string[]): { status: number | null; output: string } {
  const all = [...storage(), '--cgroup-manager=cgroupfs', '--runtime=runc', '--log-level=fatal', ...args]
  const { status, stdout, stderr } = spawnSync('podman', all, { env: environment(), encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

/** Copies a program and the libraries it loads. */
function copyProgram(path: string, root: string): void {
  const copy = (file: string): void => {
    const target = join(root, file)
    mkdirSync(dirname(target), { recursive: true })
    if (!existsSync(target)) copyFileSync(realpathSync(file), target)
  }
  copy(path)
  const { stdout } = spawnSync('ldd', [path], { encoding: 'utf8' })
  for (const [, library] of stdout.matchAll(/(\/\S+) \(0x/g)) copy(library!)
}

/** Makes node:22-slim and debian:bookworm-slim of this machine's files. */
function makeBases(): void {
  const root = join(dir, 'base')
  for (const name of [
    'bin',
    'tmp',
    'etc',
    'proc',
    'sys',
    'dev',
    'run',
    'var/lib',
    'var/cache',
    'var/log',
    'root',
    'usr/local/bin',
  ])
    mkdirSync(join(root, name), { recursive: true })
  for (const path of PROGRAMS) copyProgram(path, root)
  rmSync(join(root, 'usr/bin/node'))
  copyFileSync('/usr/bin/node', join(root, 'usr/local/bin/node'))
  const nothing = join(root, 'usr/bin/apt-get')
  writeFileSync(nothing, '#!/bin/sh\n')
  chmodSync(nothing, 0o755)
  const npm = join(dirname(dirname(realpathSync('/usr/bin/npm'))), '.')
  cpSync(npm, join(root, 'usr/local/lib/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  mkdirSync(join(root, 'usr/bin'), { recursive: true })
  copyProgram('/usr/bin/env', root)
  const container = buildah('from', 'scratch')
  buildah('copy', '-q', container, root, '/')
  buildah(
    'config',
    '--env',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    '--env',
    'npm_config_offline=true',
    container,
  )
  for (const name of ['node:22-slim', 'debian:bookworm-slim'])
    buildah('commit', '-q', container, `${REGISTRY}/${name}`)
  buildah('rm', container)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a container with the network of this machine, as others cannot be made everywhere. Returns its name. */
function run(...options: string[]): string {
  const name = `pcp-ts-image-${process.pid}-${started++}`
  const settings = { PCP_TS_PORT: ports[0], PCP_TS_WEB_PORT: ports[1], PCP_TS_LISTEN: '127.0.0.1' }
  const env = Object.entries(settings).flatMap(([key, value]) => ['-e', `${key}=${value}`])
  const { status, output } = podman(
    'run',
    '-d',
    '--name',
    name,
    '--network=host',
    '--read-only',
    ...env,
    ...options,
    IMAGE,
  )
  expect(status, output).toBe(0)
  return name
}

/** Resolves when the services answer, or fails with the log of a container that has ended. */
async function healthy(name: string): Promise<void> {
  for (;;) {
    if (podman('exec', name, 'pcp-ts', 'container', 'health').status === 0) return
    const state = podman('inspect', '--format', '{{.State.Running}}', name).output.trim()
    if (state !== 'true') throw new Error(podman('logs', name).output)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe.skipIf(reason !== undefined)('the image', () => {
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'pcp-ts-image-'))
    writeFileSync(
      join(dir, 'containers.conf'),
      '[containers]\ndefault_ulimits = ["nofile=1000:1000", "nproc=1000:1000"]\n',
    )
    ports = [await freePort(), await freePort()]
    makeBases()
    const context = join(dir, 'context')
    cpSync(join(top, 'deploy', 'image'), context, { recursive: true })
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', context], {
      cwd: top,
      stdio: 'pipe',
    })
    buildah(
      'bud',
      '--isolation=chroot',
      '--pull-never',
      '--format=docker',
      '--build-arg',
      'VARIANT=slim',
      '--build-arg',
      `REGISTRY=${REGISTRY}`,
      '--tag',
      IMAGE,
      context,
    )
  }, 600_000)
  afterAll(() => {
    for (let i = 0; i < started; i++) podman('rm', '-f', '-t', '0', `pcp-ts-image-${process.pid}-${i}`)
    rmSync(dir, { recursive: true, force: true })
  })

  test('adds at most 60 MB to its base', () => {
    const pushed = join(dir, 'pushed')
    buildah('push', '-q', '--compression-format=gzip', IMAGE, `dir:${pushed}`)
    const manifest = JSON.parse(readFileSync(join(pushed, 'manifest.json'), 'utf8')) as {
      layers: { size: number }[]
    }
    const added = manifest.layers.slice(1).reduce((sum, { size }) => sum + size, 0)
    process.stderr.write(`image: ${manifest.layers.map(({ size }) => size).join(' + ')} bytes\n`)
    expect(added).toBeLessThan(MOST_PACKED_BYTES)
  })

  test('runs as an ordinary user on a read-only root, answers, and stops in order', async () => {
    const name = run()
    await healthy(name)
    expect(podman('exec', name, 'id', '-u').output.trim()).toBe('10001')
    expect(podman('exec', name, 'touch', '/made').output).toContain('Read-only file system')
    const inside = podman('exec', name, 'pcp-ts', 'pmprobe', '-v', 'pmcd.numagents')
    expect(inside.output).toMatch(/^pmcd\.numagents 1 \d+$/m)
    const context = await connect(`127.0.0.1:${ports[0]}`)
    expect(await context.hostname()).not.toBe('')
    await context.close()
    const dashboard = JSON.parse(
      readFileSync(join(top, 'deploy/compose/grafana/dashboards/host.json'), 'utf8'),
    ) as {
      panels: { targets: { expr: string }[] }[]
    }
    const names = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const answer = await fetch(`http://127.0.0.1:${ports[1]}/pmapi/metric?names=${names.join()}`)
    const { metrics } = (await answer.json()) as { metrics: { name: string }[] }
    expect(metrics.map((metric) => metric.name).sort()).toEqual([...names].sort())
    expect(podman('stop', '-t', '30', name).status).toBe(0)
    expect(podman('inspect', '--format', '{{.State.ExitCode}}', name).output.trim()).toBe('0')
    expect(podman('logs', name).output).toMatch(
      /services: pmcd, pmie, pmlogger, pmproxy[\s\S]*Recording [\d.]+/,
    )
  })

  test('reaps orphans', async () => {
    const name = run('-e', 'PCP_SERVICES=pmcd')
    await healthy(name)
    // The process that outlives its parent is adopted by process 1, and ends.
    podman('exec', name, 'sh', '-c', 'sleep 0.2 & exit 0')
    const script = `const { readdirSync, readFileSync } = require('node:fs')
      const stats = () => readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).flatMap((pid) => { try { return [readFileSync('/proc/' + pid + '/stat', 'utf8')] } catch { return [] } })
      const look = () => { const all = stats(); if (all.some((stat) => stat.includes('(sleep) S'))) return setTimeout(look, 50); console.log(all.filter((stat) => /\\) Z /.test(stat)).length) }
      look()`
    expect(podman('exec', name, 'node', '-e', script).output.trim()).toBe('0')
    podman('stop', '-t', '30', name)
  })

  test('runs as any user of group 0, with the files of HOST_MOUNT', async () => {
    const host = join(dir, 'host')
    for (const path of ['proc', 'sys', 'etc']) mkdirSync(join(host, path), { recursive: true })
    writeFileSync(join(host, 'proc/loadavg'), '71.25 62.5 53.75 1/234 5678\n')
    writeFileSync(join(host, 'etc/machine-id'), 'machine-of-the-host\n')
    const name = run(
      '--user',
      '1234567:0',
      '-v',
      `${host}:/host:ro`,
      '-e',
      'HOST_MOUNT=/host',
      '-e',
      'PCP_SERVICES=pmcd',
    )
    await healthy(name)
    const { output } = podman('exec', name, 'pcp-ts', 'pminfo', '-l', '-f', 'kernel.all.load')
    expect(output).toContain('value 71.25')
    expect(output).toContain('"machineid":"machine-of-the-host"')
    podman('stop', '-t', '30', name)
  })

  test.each([
    ['PCP_SERVICES=pmcd,redis', 'unknown service "redis"'],
    ['HOST_MOUNT=/nowhere', 'there is no /nowhere/proc'],
  ])('ends with a message for %s', (setting, message) => {
    const { status, output } = podman('run', '--rm', '--network=host', '-e', setting, IMAGE)
    expect(status).toBe(1)
    expect(output).toContain(message)
  })
})

const hasHelm = spawnSync('helm', ['version']).status === 0
if (!hasHelm) process.stderr.write('image.test.ts: the chart is not rendered, needs helm\n')

test.skipIf(!hasHelm)('the manifests are the rendered chart', () => {
  const chart = join(top, 'deploy', 'helm', 'pcp-ts')
  const rendered = execFileSync('helm', ['template', 'pcp-ts', chart, '--namespace', 'pcp-ts'], {
    encoding: 'utf8',
  })
  const kept = readFileSync(join(top, 'deploy', 'kubernetes', 'pcp-ts.yaml'), 'utf8')
  expect(kept.replace(/^(?:#.*\n)+/, '')).toBe(rendered)
})
