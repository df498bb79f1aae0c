/** pmda-new, pmda-install and pmda-remove with both collectors, in a private tree: the reference's tools see the metrics appear and disappear. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { hasReference, plainEnv, run, top } from './lib/programs.ts'

const bin = (name: string): string => join(top, 'bin', name)

describe.runIf(hasReference).each([
  { side: 'our', command: bin('pmcd'), styles: ['pipe', 'unix', 'dso', 'worker'] },
  { side: "the reference's", command: '/usr/lib/pcp/bin/pmcd', styles: ['pipe', 'unix'] },
])('$side collector', ({ command, styles }) => {
  let dir: string
  let port: number
  let collector: ChildProcess
  let env: Record<string, string>

  const read = (name: string): string => readFileSync(join(dir, name), 'utf8')
  const tool = (name: string, ...args: string[]) => run(bin(name), args, { env, cwd: dir, timeoutMs: 90_000 })
  const pminfo = (...args: string[]) => run('pminfo', ['-h', `localhost:${port}`, ...args])

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'agent-install-'))
    for (const name of ['run', 'log', 'pmns', 'pmdas', 'tmp']) mkdirSync(join(dir, name))
    port = await freePort()
    const own: Record<string, string> = {
      PCP_RUN_DIR: join(dir, 'run'),
      PCP_PMCDCONF_PATH: join(dir, 'pmcd.conf'),
      PCP_VAR_DIR: dir,
      PCP_LOG_DIR: join(dir, 'log'),
      PCP_PMDAS_DIR: join(dir, 'pmdas'),
      PCP_TMP_DIR: join(dir, 'tmp'),
    }
    const rest = readFileSync('/etc/pcp.conf', 'utf8')
      .split('\n')
      .filter((line) => !(line.split('=')[0]! in own))
    const lines = Object.entries(own).map(([name, value]) => `${name}=${value}`)
    writeFileSync(join(dir, 'pcp.conf'), [...rest, ...lines, ''].join('\n'))
    writeFileSync(join(dir, 'pmcd.conf'), 'pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so\n')
    writeFileSync(join(dir, 'pmns', 'stdpmid.pcp'), 'PMCD 2\n')
    env = { PCP_CONF: join(dir, 'pcp.conf'), PMCD_PORT: String(port) }
    const sighups = await run('pminfo', ['-m', '-n', '/var/lib/pcp/pmns/root', 'pmcd.sighups'])
    const id = /PMID: (\S+)/.exec(sighups.stdout)![1]!.replaceAll('.', ':')
    writeFileSync(join(dir, 'pmns', 'root'), `root {\n\tpmcd\n}\npmcd {\n\tsighups\t${id}\n}\n`)
    const args = [
      '-f',
      '-p',
      String(port),
      '-s',
      join(dir, 'run', 'pmcd.socket'),
      '-l',
      join(dir, 'log', 'pmcd.log'),
      '-U',
      'root',
    ]
    collector = spawn(command, args, { env: plainEnv(env), stdio: 'ignore' })
    await vi.waitFor(async () => expect((await pminfo('pmcd')).status).toBe(0), { timeout: 60_000 })
    writeFileSync(join(dir, 'run', 'pmcd.pid'), `${collector.pid}\n`)
  })
  afterAll(async () => {
    if (collector.exitCode === null) {
      const ended = new Promise((resolve) => collector.once('exit', resolve))
      collector.kill()
      await ended
    }
    rmSync(dir, { recursive: true, force: true })
  })

  test('agents of this package are installed and removed', async () => {
    const before = [read('pmcd.conf'), read('pmns/root')]
    for (const name of ['simple', 'sample']) {
      const installed = await tool('pmda-install', name)
      expect(installed.stderr).toBe('')
      expect(installed.stdout).toMatch(
        new RegExp(`Check ${name} metrics have appeared .* metrics and \\d+ values\\n$`),
      )
    }
    expect((await pminfo('-f', 'simple.color')).stdout).toContain('inst [0 or "red"] value')
    expect((await tool('pmda-install', 'simple')).status).toBe(0)
    for (const name of ['sample', 'simple'])
      expect((await tool('pmda-remove', name)).stdout).toContain(
        `Check ${name} metrics have gone away ... OK\n`,
      )
    expect((await pminfo('simple')).stderr).toContain('Unknown metric name')
    expect([read('pmcd.conf'), read('pmns/root')].map((text) => text.replace(/\s+/g, ' '))).toEqual(
      before.map((text) => text.replace(/\s+/g, ' ')),
    )
    expect(read('log/NOTICES')).toMatch(/PMDA add: to .*: simple 253 pipe binary/)
  })

  test('a new agent works immediately, in every style', async () => {
    expect((await tool('pmda-new', 'queue')).stdout).toContain('domain 510')
    const tested = await run(process.execPath, ['--test'], { cwd: join(dir, 'queue') })
    expect(tested.stdout).toContain('# fail 0')
    for (const style of styles) {
      const installed = await tool('pmda-install', '-s', style, 'queue/agent.mjs')
      expect(installed.stdout, `${style}: ${installed.stderr}`).toContain('3 metrics and 5 values')
      expect((await pminfo('-f', 'queue.limit')).stdout).toContain('inst [2 or "right"] value 30')
      expect(existsSync(join(dir, 'config/pmlogconf/queue/queue'))).toBe(true)
      const chkhelp = await run('/usr/lib/pcp/bin/chkhelp', ['-n', 'pmns/root', '-p', 'pmdas/queue/help'], {
        env,
        cwd: dir,
      })
      expect(chkhelp.stdout).toContain('PMID 510.0.2 queue.limit: Limit of each lane\n')
      expect((await tool('pmda-remove', 'queue')).stdout).toContain('OK')
      expect(existsSync(join(dir, 'config/pmlogconf/queue'))).toBe(false)
    }
  })

  test('the installation of an agent that does not answer is undone', async () => {
    const before = [read('pmcd.conf'), read('pmns/root')]
    writeFileSync(join(dir, 'queue', 'pmdaqueue.mjs'), 'process.exit(3)\n')
    const { status, stderr } = await tool('pmda-install', 'queue/agent.mjs')
    expect(status).toBe(1)
    expect(stderr).toContain('The agent queue does not answer')
    expect([read('pmcd.conf'), read('pmns/root')]).toEqual(before)
    for (const gone of [
      'pmns/queue',
      'config/pmlogconf/queue',
      'pmdas/queue',
      'config/pmda-install/queue.json',
    ])
      expect(existsSync(join(dir, gone)), gone).toBe(false)
    expect((await pminfo('queue')).stderr).toContain('Unknown metric name')
  })
})
