/** The single executable, as on a machine without Node: every command, `pcp-ts start` with threads, page and archive, links. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isSampled } from '../lib/seed.ts'

const top = process.cwd()
/** Packing and compressing take minutes on a busy machine. */
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })
const MOST_BYTES = 130_000_000
let root: string
let executable: string
let env: NodeJS.ProcessEnv

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-executable-'))
  executable = join(root, 'pcp-ts-linux')
  make(executable)
  for (const name of ['home', 'nothing']) mkdirSync(join(root, name))
  // No Node on the path.
  env = {
    HOME: join(root, 'home'),
    PATH: join(root, 'nothing'),
    PCP_TS_UNPACK_DIR: join(root, 'files'),
    TZ: 'UTC',
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function make(out: string): void {
  const clean = { ...process.env }
  delete clean['NODE_EXTRA_CA_CERTS']
  const args = [join(top, 'scripts/package/sea.mjs'), '--out', out]
  execFileSync(process.execPath, args, { cwd: top, env: clean, stdio: ['ignore', 'ignore', 'inherit'] })
}

function run(file: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(file, args, { env, cwd: root, encoding: 'utf8' })
}

const unpacked = (): string => {
  const [name, ...others] = readdirSync(join(root, 'files'))
  expect(others).toEqual([])
  return join(root, 'files', name!)
}

test('is the same, byte by byte, when made again; its licenses are beside it', () => {
  const again = join(root, 'again')
  make(again)
  expect(readFileSync(again).equals(readFileSync(executable))).toBe(true)
  expect(statSync(executable).size).toBeLessThan(MOST_BYTES)
  const licenses = readFileSync(`${executable}.licenses.txt`, 'utf8')
  for (const text of ['Apache License', 'uplot', 'Node.js contributors']) expect(licenses).toContain(text)
  rmSync(again)
})

test('runs commands as an operand, by the name of a link, and from the unpacked files', () => {
  expect(run(executable, '--version').stderr).toMatch(/^pcp-ts version /)
  const year = String(new Date().getUTCFullYear())
  expect(run(executable, 'pmdate', '%Y').stdout.trim()).toBe(year)
  symlinkSync(executable, join(root, 'pmdate'))
  expect(run(join(root, 'pmdate'), '%Y').stdout.trim()).toBe(year)
  expect(run('./pmdate', '%Y').stdout.trim()).toBe(year)
  const program = join(unpacked(), 'bin/pmdate')
  expect(run(program, '%Y').stdout.trim()).toBe(year)
  symlinkSync(program, join(root, 'linked'))
  expect(run(join(root, 'linked'), '%Y').stdout.trim()).toBe(year)
})

test('runs a quarter of the commands each day', () => {
  const bin = join(unpacked(), 'bin')
  const names = readdirSync(bin).filter((name) => /^(?:pm|pcp)[\w-]*$/.test(name) && !name.startsWith('pmda'))
  expect(names.length).toBeGreaterThan(60)
  const tried = names.filter((name, i) => name !== 'pcp-ts' && isSampled(i, 4))
  const failed = tried.filter((name) => run(executable, name, '--help').status !== 0)
  const asPackage = failed.filter(
    (name) => spawnSync(process.execPath, [join(top, 'bin', name), '--help'], { env }).status === 0,
  )
  expect(asPackage).toEqual([])
})

test("runs a user's own script, a module or CommonJS", () => {
  writeFileSync(
    join(root, 'own.mjs'),
    `console.log(import.meta.url.slice(-7), process.argv.slice(2).join())\n`,
  )
  expect(run(executable, join(root, 'own.mjs'), 'a', 'b').stdout).toBe('own.mjs a,b\n')
  writeFileSync(join(root, 'own.cjs'), `console.log(require('node:path').basename(__filename))\n`)
  expect(run(executable, join(root, 'own.cjs')).stdout).toBe('own.cjs\n')
})

test('starts the collector with threads, the recorder and the page; records; stops', async () => {
  const dir = join(root, 'state')
  const args = ['start', '--dir', dir, '-p', '0', '--web-port', '0', '--threads', 'all']
  const started = spawn(executable, args, { env, cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(started, 'exit')
  try {
    let text = ''
    for await (const chunk of started.stdout.setEncoding('utf8')) {
      text += chunk
      if (text.includes('Ctrl-C')) break
    }
    const host = `unix:/${join(dir, 'run/pmcd.socket')}`
    const values = run(executable, 'pminfo', '-h', host, '-f', 'hinv.ncpu', 'proc.nprocs')
    expect(values.stderr).toBe('')
    expect(values.stdout.match(/value \d+/g)).toHaveLength(2)
    const [page] = /http:\/\/\S+/.exec(text)!
    const html = await (await fetch(page)).text()
    const [script] = /\/ui\/assets\/main-\w+\.js/.exec(html)!
    expect((await fetch(new URL(script, page))).headers.get('content-type')).toContain('javascript')
  } finally {
    started.kill()
  }
  expect(await ended).toEqual([0, null])
  const archives = join(dir, 'archives')
  const names = readdirSync(archives, { recursive: true, encoding: 'utf8' })
  const index = names.find((name) => name.endsWith('.index'))!
  const label = run(executable, 'pmlogdump', '-l', join(archives, index.replace(/\.index$/, '')))
  expect(label).toMatchObject({ status: 0, stdout: expect.stringContaining('Log Format Version 3') })
})

test('unpacks again after files were removed, and reports a directory that it cannot use', () => {
  rmSync(join(unpacked(), 'bin/parts'), { recursive: true })
  expect(run(executable, 'pmdate', '%j').status).toBe(0)
  expect(existsSync(join(unpacked(), 'bin/parts/launch.cjs'))).toBe(true)
  const kept = env
  env = { ...env, PCP_TS_UNPACK_DIR: '/proc/nothing/here' }
  const refused = run(executable, '--version')
  env = kept
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/^pcp-ts: cannot unpack the files of this program: .*PCP_TS_UNPACK_DIR/)
})
