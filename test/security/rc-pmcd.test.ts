/** A collector started by the start script: who can connect, and its account. */
import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { canActForOthers, giveAway, NOBODY } from '../lib/accounts.ts'

const top = process.cwd()
const isRoot = canActForOthers()
const REMOTE = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && each.family === 'IPv4' && !each.internal)?.address
if (REMOTE === undefined) console.log('this machine has no other address than loopback')

let dir: string
let port: number

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-rc-'))
  chmodSync(dir, 0o755)
  port = await freePort()
  for (const name of ['default', 'log', 'log/pmcd', 'pmns', 'run']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'pmns', 'root'), 'root { pmcd }\npmcd { version 2:0:7 }\n')
  writeFileSync(join(dir, 'pmcd.conf'), 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\n')
})
afterEach(async () => {
  await rc('stop')
  rmSync(dir, { recursive: true, force: true })
})

interface Setup {
  readonly options?: string
  readonly environment?: string
  /** PCP_USER; undefined if pcp.conf has none. */
  readonly user?: string
}

function write({ options = '', environment = '', user }: Setup): void {
  const settings = [
    `PCP_RUN_DIR=${dir}/run`,
    `PCP_SYSCONF_DIR=${dir}`,
    `PCP_PMCDCONF_PATH=${dir}/pmcd.conf`,
    `PCP_VAR_DIR=${dir}`,
    `PCP_LOG_DIR=${dir}/log`,
    `PCP_SYSCONFIG_DIR=${dir}/default`,
    ...(user === undefined ? [] : [`PCP_USER=${user}`]),
  ]
  writeFileSync(join(dir, 'pcp.conf'), `${settings.join('\n')}\n`)
  writeFileSync(join(dir, 'pmcd.options'), `-p ${port} ${options}\n`)
  writeFileSync(join(dir, 'default', 'pmcd'), environment)
}

function rc(action: string): Promise<{ readonly status: number; readonly text: string }> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PCP_CONF: join(dir, 'pcp.conf') }
  return new Promise((done) => {
    execFile(join(top, 'share', 'rc_pmcd'), [action], { env }, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : Number(error.code), text: stdout + stderr }),
    )
  })
}

const logText = (): string => readFileSync(join(dir, 'log', 'pmcd', 'pmcd.log'), 'utf8')

function isReachable(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    const end = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}

function runningAs(): string {
  const pid = readFileSync(join(dir, 'run', 'pmcd.pid'), 'utf8').trim()
  const [, uid = ''] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return spawnSync('id', ['-nu', uid], { encoding: 'utf8' }).stdout.trim()
}

test('other hosts cannot connect, and the log explains how to allow them', async () => {
  write({ user: userInfo().username })
  expect(await rc('start')).toEqual({ status: 0, text: '' })
  expect(await isReachable('127.0.0.1')).toBe(true)
  if (REMOTE !== undefined) expect(await isReachable(REMOTE)).toBe(false)
  expect(logText()).toMatch(/inet +INADDR_LOOPBACK/)
  expect(logText()).toContain('Clients of other hosts cannot connect: PMCD_LOCAL=0')
})

test.skipIf(REMOTE === undefined).each([
  ['PMCD_LOCAL=0 in the environment', { environment: 'PMCD_LOCAL=0\n' }],
  ['an address among the options', { options: `-i ${REMOTE}` }],
])('%s lets other hosts connect', async (_what, setup) => {
  write({ user: userInfo().username, ...setup })
  expect(await rc('start')).toEqual({ status: 0, text: '' })
  expect(await isReachable(REMOTE!)).toBe(true)
  expect(logText()).not.toContain('Clients of other hosts cannot connect')
})

test.skipIf(!isRoot)(
  'started by root it runs as the account pcp, and does not run without that account',
  async () => {
    write({})
    const hasAccount = spawnSync('id', ['pcp']).status === 0
    const { status, text } = await rc('start')
    if (hasAccount) {
      expect(text).toBe('')
      expect(runningAs()).toBe('pcp')
      expect(logText()).toMatch(/pmcd runs as user pcp/)
    } else {
      expect(text).toContain('There is no user "pcp" to run as')
      expect(status).toBe(1)
    }
  },
)

test.skipIf(!isRoot).each([
  ['nobody', { user: 'nobody' }],
  ['nobody', { environment: 'PCP_USER=nobody\n', user: 'root' }],
  ['nobody', { options: '-U nobody' }],
  ['root', { user: 'root' }],
])('started by root it runs as %s with the configuration %o', async (name, setup) => {
  write(setup)
  expect(await rc('start')).toEqual({ status: 0, text: '' })
  expect(runningAs()).toBe(name)
  expect(logText()).toContain(name === 'root' ? 'Warning: pmcd runs as root' : 'pmcd runs as user nobody')
})

test.skipIf(!isRoot)(
  'directories of an earlier run as root are given to the account, with the previous log',
  async () => {
    write({ user: 'root' })
    expect((await rc('start')).status).toBe(0)
    expect(runningAs()).toBe('root')
    await rc('stop')
    write({ user: 'nobody' })
    expect(await rc('restart')).toEqual({ status: 0, text: '' })
    expect(runningAs()).toBe('nobody')
    for (const name of ['log', 'log/pmcd', 'run']) expect(statSync(join(dir, name)).uid, name).toBe(NOBODY)
    expect(readFileSync(join(dir, 'log', 'pmcd', 'pmcd.log.prev'), 'utf8')).toContain('pmcd runs as root')
  },
)

test.skipIf(!isRoot)(
  'the target of a symbolic link that replaced a directory is not given to the account',
  async () => {
    write({ user: 'nobody' })
    const victim = join(dir, 'victim')
    mkdirSync(victim)
    giveAway(join(dir, 'log'))
    renameSync(join(dir, 'log', 'pmcd'), join(dir, 'log', 'was'))
    symlinkSync(victim, join(dir, 'log', 'pmcd'))
    await rc('start')
    expect(statSync(victim).uid).toBe(0)
  },
)
