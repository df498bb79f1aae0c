/** The collector as a service: start script, service manager, account. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

const OWN_LINE = 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\n'
const TOOLS = ['pmcd', 'pmcd_wait', 'pmpost', 'Rebuild']
const isRoot = process.geteuid?.() === 0

let home: string
let dir: string

/** Installs a package with the script and the commands it calls. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'pcp-service-'))
  for (const name of ['bin', 'share']) mkdirSync(join(home, name))
  copyFileSync('share/rc_pmcd', join(home, 'share', 'rc_pmcd'))
  await Promise.all(
    TOOLS.map(async (name) => {
      const outfile = join(home, 'bin', name)
      const contents = `import { main } from './src/tools/main.ts'
        import { tool } from './src/tools/${name}.ts'
        void main(tool)`
      await build({
        stdin: { contents, resolveDir: process.cwd(), loader: 'ts', sourcefile: `${name}.ts` },
        outfile,
        bundle: true,
        platform: 'node',
        target: 'node20.19',
        format: 'cjs',
        banner: { js: '#!/usr/bin/env node' },
        logLevel: 'error',
      })
      chmodSync(outfile, 0o755)
    }),
  )
  chmodSync(home, 0o755) // another account runs its programs
})
afterAll(() => rmSync(home, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-service-run-'))
  writeFileSync(
    join(dir, 'pcp.conf'),
    `PCP_RUN_DIR="${dir}/run"\nPCP_SYSCONF_DIR=${dir}\nPCP_PMCDCONF_PATH=${dir}/pmcd.conf\nPCP_VAR_DIR=${dir}
PCP_LOG_DIR='${dir}/log'\nPCP_SYSCONFIG_DIR=${dir}/default\nPCP_USER=${userInfo().username}\n`,
  )
  writeFileSync(join(dir, 'pmcd.conf'), OWN_LINE)
  mkdirSync(join(dir, 'pmns'))
  writeFileSync(join(dir, 'pmns', 'root'), 'root { pmcd }\npmcd { version 2:0:7 }\n')
})
afterEach(async () => {
  const { status } = await rc('status')
  if (status === 0) await rc('stop')
  rmSync(dir, { recursive: true, force: true })
})

function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(([name]) => !/^(PCP|PMCD|PMNS)_/.test(name))
  return { ...Object.fromEntries(clean), PCP_CONF: join(dir, 'pcp.conf'), ...extra }
}

/** Runs the script. */
async function rc(action: string): Promise<{ status: number; text: string }> {
  return new Promise((done) => {
    execFile(join(home, 'share', 'rc_pmcd'), [action], { env: environment() }, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    )
  })
}

const logText = (): string => readFileSync(join(dir, 'log', 'pmcd', 'pmcd.log'), 'utf8')

/** Waits until a file has a line. */
async function fileUntil(path: string, pattern: RegExp): Promise<string> {
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    if (pattern.test(text)) return text
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('the script starts, reports on, reconfigures and stops the collector', async () => {
  writeFileSync(join(dir, 'pmcd.options'), '# ports\n-p 0 # any\n -H "some host"\n')
  mkdirSync(join(dir, 'default'))
  writeFileSync(join(dir, 'default', 'pmcd'), 'PMCD_MAXPENDING=9\n')
  writeFileSync(join(dir, 'rc.local'), `#!/bin/sh\necho done > ${dir}/local\n`, { mode: 0o755 })
  expect(await rc('status')).toEqual({ status: 3, text: 'rc_pmcd: pmcd is not running\n' })
  expect(await rc('start')).toEqual({ status: 0, text: '' })
  const pid = readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8').trim()
  expect(await rc('status')).toEqual({ status: 0, text: `rc_pmcd: pmcd is running, process ${pid}\n` })
  expect((await rc('start')).text).toBe(`rc_pmcd: pmcd is already running, process ${pid}\n`)
  expect(logText()).toMatch(/^Log for pmcd on some host started/)
  expect(logText()).toContain('PMCD_MAXPENDING=9 from the environment is in force')
  expect(readFileSync(join(dir, 'local'), 'utf8')).toBe('done\n')
  expect((await rc('force-reload')).status).toBe(0)
  await fileUntil(join(dir, 'log', 'pmcd', 'pmcd.log'), /pmcd RESTARTED at/)
  expect(await rc('restart')).toEqual({ status: 0, text: '' })
  expect(readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8').trim()).not.toBe(pid)
  expect(readFileSync(join(dir, 'log', 'pmcd', 'pmcd.log.prev'), 'utf8')).toContain('pmcd Shutdown')
  expect(await rc('stop')).toEqual({ status: 0, text: '' })
  expect((await rc('status')).status).toBe(3)
  const notices = readFileSync(join(dir, 'log', 'NOTICES'), 'utf8')
  expect(notices.match(/ (start|stop) pmcd from .*rc_pmcd$/gm)).toHaveLength(4)
})

test('pending names and agents are installed before the collector starts', async () => {
  writeFileSync(join(dir, 'pmcd.options'), '-p 0\n')
  writeFileSync(join(dir, 'pmns', '.NeedRebuild'), '')
  const agents = { good: 'exit 0', bad: 'echo no; exit 1' }
  for (const [name, script] of Object.entries(agents)) {
    const folder = join(dir, 'pmdas', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'Install'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    writeFileSync(join(folder, '.NeedInstall'), '')
  }
  const { status, text } = await rc('start')
  expect(status).toBe(0)
  expect(text).toBe(`rc_pmcd: ${dir}/pmdas/bad/Install failed:\nno\n`)
  expect(existsSync(join(dir, 'pmns', '.NeedRebuild'))).toBe(false)
  expect(existsSync(join(dir, 'pmdas', 'good', '.NeedInstall'))).toBe(false)
  expect(existsSync(join(dir, 'pmdas', 'bad', '.NeedInstall'))).toBe(true)
})

test('a collector that does not start is reported, and stale files are detected', async () => {
  writeFileSync(join(dir, 'pmcd.conf'), '[access]\nallow * : nothing;\n')
  const { status, text } = await rc('start')
  expect(status).toBe(1)
  expect(text).toContain('pmcd.conf has errors')
  writeFileSync(join(dir, 'run', 'pmcd.pid'), `${process.pid}\n`)
  expect((await rc('status')).status).toBe(1)
  expect((await rc('reload')).status).toBe(7)
  expect((await rc('nonsense')).status).toBe(2)
})

test('a service manager is notified when the collector is ready', async () => {
  const bin = join(dir, 'fake')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$@" > ${dir}/notified\n`, { mode: 0o755 })
  const env = environment({ NOTIFY_SOCKET: '/nowhere', PATH: `${bin}:${process.env['PATH']}` })
  const child = spawn(join(home, 'bin', 'pmcd'), ['-F', '-p', '0'], { cwd: dir, env, stdio: 'inherit' })
  const ended = once(child, 'exit')
  const text = await fileUntil(join(dir, 'notified'), /\n/)
  expect(text).toBe(`--ready --pid=${child.pid}\n`)
  expect(readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8')).toBe(`${child.pid}\n`)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(existsSync(join(dir, 'run', 'pmcd.pid'))).toBe(false)
})

test.runIf(isRoot)(
  'a daemon started by root runs as another account, and so do agents started later',
  async () => {
    const run = (...args: string[]): string =>
      execFileSync(join(home, 'bin', 'pmcd'), args, {
        cwd: dir,
        env: environment(),
        encoding: 'utf8',
        stdio: 'pipe',
      })
    expect(() => run('-p', '0', '-U', 'no such user')).toThrow(/There is no user "no such user" to run as/)
    run('-p', '0', '-U', 'nobody')
    const pid = readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8').trim()
    const [user] = execFileSync('ps', ['-o', 'user=', '-p', pid], { encoding: 'utf8' }).trim().split(' ')
    expect(user).toBe('nobody')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).not.toMatch(/^(Uid|Gid):.*\t0\b/m)
    expect(status).not.toMatch(/^Groups:.*\b0\b/m)
    process.kill(Number(pid), 'SIGTERM')
    // The directory is root's: the PID file cannot be removed, which is only logged.
    expect(await fileUntil(join(dir, 'pmcd.log'), /Log finished/)).toMatch(
      /Warning: Cannot remove .*pmcd.pid/,
    )
    rmSync(join(dir, 'run', 'pmcd.pid'))
  },
)
