/** With pcp-ts alone on the PATH, as npm installs it, commands find the other programs of the package. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'

let dir: string
let host: string
let started: ReturnType<typeof run>

function run(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(dir, 'path', 'pcp-ts'), args, {
    cwd: dir,
    env: {
      HOME: dir,
      PATH: `${dir}/path:/bin`,
      PCP_CONF: join(dir, 'pcp.conf'),
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-one-'))
  for (const name of ['path', 'etc', 'run', 'log', 'tmp', 'var']) mkdirSync(join(dir, name))
  symlinkSync(resolve('bin/pcp-ts'), join(dir, 'path', 'pcp-ts'))
  symlinkSync(process.execPath, join(dir, 'path', 'node'))
  const places = [
    'SYSCONF_DIR=etc',
    'VAR_DIR=var',
    'TMP_DIR=tmp',
    'LOG_DIR=log',
    'ARCHIVE_DIR=log',
    'RUN_DIR=run',
  ]
  const user = process.getuid!() === 0 ? ['PCP_USER=root\n'] : []
  writeFileSync(
    join(dir, 'pcp.conf'),
    [
      ...[...places, 'PMCDCONF_PATH=pmcd.conf'].map((line) => `PCP_${line.replace('=', `=${dir}/`)}\n`),
      ...user,
    ].join(''),
  )
  writeFileSync(join(dir, 'pmcd.conf'), 'pmcd 2 dso pmcd_init /x/pmda_pmcd.so\n')
  writeFileSync(join(dir, 'names'), 'root {\n pmcd\n}\npmcd {\n version 2:0:2\n}\n')
  const port = await freePort()
  host = `localhost:${port}`
  started = run(['pmcd', '-n', join(dir, 'names'), '-p', String(port)])
})
afterAll(async () => {
  const pid = Number(readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8'))
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await new Promise((done) => setTimeout(done, 20))
  rmSync(dir, { recursive: true })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a daemon detaches', () => {
  expect(started).toMatchObject({ status: 0, stderr: '' })
  expect(run(['pminfo', '-h', host, '-f', 'pmcd.version']).stdout).toMatch(/value \d/)
})

test('a rule runs a command', () => {
  const out = join(dir, 'out')
  writeFileSync(join(dir, 'rules'), `delta = 100 msec;\n1 == 1 -> shell "pmerr -12357 >>${out}";\n`)
  expect(run(['pmie', '-T', '250 msec', '-h', host, '-c', join(dir, 'rules')]).status).toBe(0)
  expect(readFileSync(out, 'utf8')).toMatch(/^Code: -12357 .*Unknown metric name$/m)
})
