/** Settings and programs prepared by another user of the machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { scanDirectory } from '../../src/agents/openmetrics/directory.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { formatUsers, userFileLookup } from '../../src/net/sasl/user-file.ts'
import { canActForOthers, giveAway, NOBODY } from '../lib/accounts.ts'

const top = process.cwd()
const isRoot = canActForOthers()
let dir: string
let child: ChildProcess | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-settings-'))
  chmodSync(dir, 0o755)
})
afterEach(() => {
  child?.kill('SIGKILL')
  child = undefined
  rmSync(dir, { recursive: true, force: true })
})

/** Writes a file, creating the directories above it. */
function put(path: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

/** Writes a recorder's configuration that creates `mark` when it is read. */
function trap(place: string): { readonly mark: string; readonly file: string } {
  const mark = join(dir, 'mark')
  const file = put(
    join(place, 'pmlogger', 'config.default'),
    `%shell "touch ${mark}"\nlog mandatory on 1 sec { pmcd.numagents }\n`,
  )
  return { mark, file }
}

/** Runs `npm start` until it has started or ended; returns its output. */
async function start(args: readonly string[], env: Record<string, string>, uid?: number): Promise<string> {
  const line = [
    join(top, 'bin', 'pcp-ts'),
    'start',
    '--port',
    '0',
    '--web-port',
    '0',
    '--agents',
    'pmcd',
    ...args,
  ]
  const { PATH = '' } = process.env
  child = spawn(process.execPath, line, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  const started = child
  const closed = once(started, 'close')
  let text = ''
  for (const stream of [started.stdout!, started.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  while (!text.includes('Ctrl-C stops everything.') && started.exitCode === null)
    await Promise.race([once(started.stdout!, 'data'), closed])
  if (started.exitCode === null) started.kill('SIGTERM')
  await closed
  return text
}

/** Runs a command; returns its status and output. */
function run(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd = dir,
): { status: number | null; text: string } {
  const { PATH = '' } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(top, 'bin', name), ...args], {
    cwd,
    env: { PATH, ...env },
    encoding: 'utf8',
  })
  return { status, text: stdout + stderr }
}

test.skipIf(!isRoot)('--dir of another user is refused, and its configuration is not run', async () => {
  const place = join(dir, 'place')
  const { mark } = trap(join(place, 'etc'))
  giveAway(place, join(place, 'etc'))
  const text = await start(['--dir', place], { HOME: dir })
  expect(text).toMatch(/place.*belongs to user nobody.*--dir DIR/)
  expect(existsSync(mark)).toBe(false)
})

test('a world-writable directory is refused, and so is one such file among the settings', async () => {
  const place = join(dir, 'place')
  const { mark, file } = trap(join(place, 'etc'))
  chmodSync(file, 0o666)
  expect(await start(['--dir', place], { HOME: dir })).toMatch(/config\.default is writable by everybody/)
  chmodSync(file, 0o644)
  chmodSync(join(place, 'etc'), 0o777)
  expect(await start(['--dir', place], { HOME: dir })).toMatch(/etc is writable by everybody/)
  expect(existsSync(mark)).toBe(false)
})

test.skipIf(!isRoot)('HOME of another user is not used', async () => {
  const home = join(dir, 'home')
  const { mark } = trap(join(home, '.config', 'pcp'))
  giveAway(home)
  expect(await start([], { HOME: home })).toMatch(/home on the way to .*: it belongs to user nobody/)
  expect(existsSync(mark)).toBe(false)
})

test.skipIf(!isRoot)('settings that another user has put into a shared directory are refused', async () => {
  const shared = join(dir, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  const { mark } = trap(join(shared, '.config', 'pcp'))
  giveAway(join(shared, '.config'))
  expect(await start([], { HOME: shared })).toMatch(/\.config on the way to .*: it belongs to user nobody/)
  rmSync(join(shared, '.config'), { recursive: true })
  trap(join(dir, 'elsewhere', 'pcp'))
  symlinkSync(join(dir, 'elsewhere'), join(shared, '.config'))
  lchownSync(join(shared, '.config'), NOBODY, NOBODY)
  expect(await start([], { HOME: shared })).toMatch(/\.config on the way to .*: it is a link of user nobody/)
  expect(existsSync(mark)).toBe(false)
})

test.skipIf(!isRoot)('without HOME nothing is stored below /tmp', async () => {
  // An account whose home directory does not exist.
  const text = await start([], {}, NOBODY)
  expect(text).toMatch(/Cannot write to \/nonexistent.*--dir DIR/)
  expect(run('pmconfig', ['-a'], { PCP_CONF: '' }).text).not.toMatch(/=\/tmp/)
})

test('settings of the user and of root are used', async () => {
  const place = join(dir, 'place')
  const { mark } = trap(join(place, 'etc'))
  expect(await start(['--dir', place], { HOME: dir })).toContain('Ctrl-C stops everything.')
  expect(existsSync(mark)).toBe(true)
})

test.skipIf(!isRoot)(
  'programs and settings of another user in the home or working directory are refused',
  () => {
    const mark = join(dir, 'mark')
    const program = put(join(dir, '.pcp', 'bin', 'pcp-greet'), `#!/bin/sh\ntouch ${mark}\n`, 0o755)
    expect(run('pcp', ['greet'], { HOME: dir }).status).toBe(0)
    expect(existsSync(mark)).toBe(true)
    rmSync(mark)
    giveAway(program)
    expect(run('pcp', ['greet'], { HOME: dir }).text).toMatch(/pcp-greet belongs to user nobody/)
    expect(existsSync(mark)).toBe(false)

    const cwd = join(dir, 'cwd')
    const settings: readonly (readonly [string, string, readonly string[], string])[] = [
      ['pmrep', join(cwd, 'pmrep.conf'), ['-s', '1', 'nothing'], '[options]\nversion = 1\n'],
      ['pcp-dstat', join(dir, '.pcp', 'dstat', 'mine'), ['--list'], '[mine]\nx = simple.color\n'],
      ['pcp-atop', join(dir, '.atoprc'), ['1', '1'], 'interval 5\n'],
    ]
    for (const [name, file, args, text] of settings) {
      giveAway(put(file, text))
      const { status, text: printed } = run(name, args, { HOME: dir }, cwd)
      expect(printed, name).toMatch(/belongs to user nobody/)
      expect(status, name).not.toBe(0)
      rmSync(file)
    }
  },
)

test.skipIf(!isRoot)(
  'scripts of another user are not run, and users in a file of another user cannot log in',
  async () => {
    const logged: string[] = []
    const script = put(join(dir, 'config.d', 'evil.sh'), '#!/bin/sh\n', 0o755)
    const scan = (): readonly string[] =>
      scanDirectory(join(dir, 'config.d'), true, (text) => logged.push(text)).map(({ nickname }) => nickname)
    expect(scan()).toEqual(['evil'])
    giveAway(script)
    expect(scan()).toEqual([])
    expect(logged.join()).toMatch(/evil\.sh is left out: .*belongs to user nobody/)

    const users = formatUsers(new Map([['joe', await makeVerifier('secret')]]))
    const file = put(join(dir, 'passwd.conf'), users, 0o640)
    expect(userFileLookup(file, (problem) => logged.push(problem))('joe')).toBeDefined()
    giveAway(file)
    expect(userFileLookup(file, (problem) => logged.push(problem))('joe')).toBeUndefined()
    expect(logged.join()).toMatch(/passwd\.conf belongs to user nobody.*no user can authenticate/)
  },
)
