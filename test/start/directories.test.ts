import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { VERSION } from '../../src/base/version.ts'
import { PcpError } from '../../src/model/errors.ts'
import {
  createDirectories,
  planDirectories,
  planSystemDirectories,
  type StartDirectories,
  usableSocketPath,
} from '../../src/start/directories.ts'
import { loadConfig } from '../../src/sys/config.ts'

/** As `pcp-ts start` does. */
const create = (place: StartDirectories): Promise<readonly unknown[]> =>
  createDirectories(place, { command: 'pcp-ts start', records: true })

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-place-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('--dir contains everything, and its pcp.conf has the paths', async () => {
  const place = planDirectories(dir, {}, '/our/bin', {})
  await create(place)
  const { variables } = loadConfig({ PCP_CONF: place.confPath })
  expect(place.socketPath).toBe(join(dir, 'run', 'pmcd.socket'))
  expect(variables['PCP_RUN_DIR']).toBe(join(dir, 'run'))
  expect(variables['PCP_LOG_DIR']).toBe(join(dir, 'log'))
  expect(variables['PCP_ARCHIVE_DIR']).toBe(join(dir, 'archives'))
  expect(variables['PCP_BINADM_DIR']).toBe('/our/bin')
})

test("without --dir state goes to the user's XDG directories", () => {
  const place = planDirectories(undefined, { HOME: '/home/u', XDG_RUNTIME_DIR: '/run/user/7' }, '/bin', {})
  expect(place.confPath).toBe('/home/u/.config/pcp/pcp.conf')
  expect(place.socketPath).toBe('/run/user/7/pcp/pmcd.socket')
  expect(place.logPath).toBe('/home/u/.local/state/pcp/log/pmcd/pmcd.log')
  expect(place.archiveDir).toBe('/home/u/.local/state/pcp/archives')
})

test("the system's service has directories of its own, or those that systemd names", () => {
  const place = planSystemDirectories({}, '/bin', { PCP_RUN_DIR: '/run/pcp' })
  expect(place.confPath).toBe('/run/pcp-ts/pcp.conf')
  expect(place.socketPath).toBe('/run/pcp-ts/pmcd.socket')
  expect(place.archiveDir).toBe('/var/log/pcp-ts/archives')
  expect(place.variables).toMatchObject({ PCP_SYSCONF_DIR: '/etc/pcp-ts', PCP_VAR_DIR: '/var/lib/pcp-ts' })
  const named = { RUNTIME_DIRECTORY: '/run/a:/run/b', LOGS_DIRECTORY: '/l', STATE_DIRECTORY: '/s' }
  const { variables } = planSystemDirectories({ ...named, CONFIGURATION_DIRECTORY: '/c' }, '/bin', {})
  expect(variables).toMatchObject({
    PCP_RUN_DIR: '/run/a',
    PCP_LOG_DIR: '/l',
    PCP_VAR_DIR: '/s',
    PCP_SYSCONF_DIR: '/c',
  })
})

test("the service writes its pcp.conf beside the socket, not to root's settings", async () => {
  const env = Object.fromEntries(
    ['CONFIGURATION', 'STATE', 'LOGS', 'RUNTIME'].map((name) => [`${name}_DIRECTORY`, join(dir, name)]),
  )
  mkdirSync(env['CONFIGURATION_DIRECTORY']!)
  await createDirectories(planSystemDirectories(env, '/bin', {}), { command: 'pcp-ts start', records: true })
  expect(readdirSync(env['CONFIGURATION_DIRECTORY']!)).toEqual([])
  const { variables } = loadConfig({ PCP_CONF: join(dir, 'RUNTIME', 'pcp.conf') })
  expect(variables['PCP_SYSCONF_DIR']).toBe(join(dir, 'CONFIGURATION'))
})

test('programs of an installed PCP are used, its state is left alone', () => {
  const installed = {
    PCP_BINADM_DIR: '/usr/lib/pcp/bin',
    PCP_RUN_DIR: '/run/pcp',
    PCP_PYTHON_PROG: '/usr/bin/python3',
    PCP_TLSCONF_PATH: '/etc/pcp/tls.conf',
  }
  const { variables } = planDirectories(dir, {}, '/our/bin', installed)
  expect(variables).toMatchObject({
    PCP_BINADM_DIR: '/usr/lib/pcp/bin',
    PCP_PYTHON_PROG: '/usr/bin/python3',
    PCP_RUN_DIR: join(dir, 'run'),
    PCP_TLSCONF_PATH: join(dir, 'etc', 'tls.conf'),
  })
  const chosen = { PCP_TLSCONF_PATH: '/my/tls.conf' }
  expect(planDirectories(dir, chosen, '/our/bin', installed).variables).toMatchObject(chosen)
})

test("the simple agent's configuration is provided once and then left alone", async () => {
  const place = planDirectories(dir, {}, '/bin', {})
  await create(place)
  const conf = join(dir, 'lib', 'pmdas', 'simple', 'simple.conf')
  expect(readFileSync(conf, 'utf8')).toBe('sec,min,hour\n')
  writeFileSync(conf, 'hour\n')
  await create(place)
  expect(readFileSync(conf, 'utf8')).toBe('hour\n')
})

test('an obstructing file is named in a one-line error', async () => {
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const attempt = (): Promise<unknown> => create(planDirectories(file, {}, '/bin', {}))
  await expect(attempt()).rejects.toThrow(PcpError)
  await expect(attempt()).rejects.toThrow(
    `Cannot write to ${file}/etc: Not a directory; choose another directory: pcp-ts start --dir DIR`,
  )
})

test('directories can be created below /tmp, where other users can create files', async () => {
  const shared = join(dir, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  for (let i = 0; i < 2; i++) await create(planDirectories(join(shared, 'pcp'), {}, '/bin', {}))
  expect(readdirSync(join(shared, 'pcp', 'etc')).sort()).toEqual(['pcp.conf', 'state.json'])
  chmodSync(shared, 0o777)
  await expect(create(planDirectories(join(shared, 'other'), {}, '/bin', {}))).rejects.toThrow(
    /shared on the way to .* is writable by everybody/,
  )
  expect(readdirSync(shared)).toEqual(['pcp'])
})

/** Names and contents of all files below a directory. */
function filesBelow(top: string): ReadonlyMap<string, string> {
  const paths = readdirSync(top, { recursive: true, encoding: 'utf8' }).sort()
  return new Map(
    paths.map((path) => {
      const at = join(top, path)
      return [path, statSync(at).isDirectory() ? '' : readFileSync(at, 'utf8')]
    }),
  )
}

test('settings, data and archives get a version once', async () => {
  const place = planDirectories(dir, {}, '/bin', {})
  const kinds = (await createDirectories(place, { command: 'pcp-ts start', records: true })).map(
    ({ kind, from }) => `${kind} ${from}`,
  )
  expect(kinds).toEqual(['settings 0', 'data 0', 'archives 0'])
  const files = filesBelow(dir)
  for (const [root, kind] of [['etc', 'settings'], ['lib', 'data'], ['archives', 'archives']] as const) // biome-ignore format: a table
    expect(JSON.parse(files.get(join(root, 'state.json'))!)).toEqual({
      kind,
      version: 1,
      writtenBy: `pcp-ts ${VERSION}`,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    })
  expect(await create(place)).toEqual([])
  expect(filesBelow(dir)).toEqual(files)
})

test.each(['etc', 'lib', 'archives'])(
  'a newer version in %s is refused, and nothing is written',
  async (root) => {
    const kind = { etc: 'settings', lib: 'data', archives: 'archives' }[root]
    mkdirSync(join(dir, root))
    const state = { kind, version: 2, writtenBy: 'pcp-ts 9.1.0', since: '2031-01-01T00:00:00.000Z' }
    writeFileSync(join(dir, root, 'state.json'), JSON.stringify(state))
    const before = filesBelow(dir)
    const attempt = create(planDirectories(dir, {}, '/bin', {}))
    await expect(attempt).rejects.toMatchObject({ code: 'ENOTSUP' })
    await expect(attempt).rejects.toThrow(
      `${join(dir, root, 'state.json')}: the ${kind} have format 2 of pcp-ts 9.1.0, and pcp-ts ${VERSION} knows formats up to 1. ` +
        'Use that version or a newer one, or other directories: --dir DIR. Nothing was changed.',
    )
    expect(filesBelow(dir)).toEqual(before)
  },
)

test.each([
  '',
  '{',
  '[]',
  '{"kind":"data","version":1,"writtenBy":"x"}',
  '{"kind":"settings","version":0.5}',
])('a version file with %j is refused', async (text) => {
  mkdirSync(join(dir, 'etc'))
  writeFileSync(join(dir, 'etc', 'state.json'), text)
  await expect(create(planDirectories(dir, {}, '/bin', {}))).rejects.toThrow(
    `${join(dir, 'etc', 'state.json')} is not the version file of a directory of settings`,
  )
  expect(readdirSync(dir)).toEqual(['etc'])
})

test('a path too long for a socket has no socket', () => {
  expect(usableSocketPath(planDirectories(`/${'x'.repeat(110)}`, {}, '/bin', {}))).toBeUndefined()
  expect(usableSocketPath(planDirectories('/short', {}, '/bin', {}))).toBe('/short/run/pmcd.socket')
})
