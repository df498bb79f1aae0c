import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { homeDir, loadConfig, parsePcpConf, userDirs } from '../../src/sys/config.ts'

/** A file system of these files. */
const files =
  (texts: Record<string, string>) =>
  (path: string): string | undefined =>
    texts[path]

test('reads NAME=value lines, removes outer quotes, ignores the rest', () => {
  const text = '# c=d\nA=1\nB="two words"\nC=\'x\'\nD="odd\'\n not a line\nexport E=1\n=x\nF=a=b\nG=\n'
  expect(parsePcpConf(text)).toEqual({ A: '1', B: 'two words', C: 'x', D: '"odd\'', F: 'a=b', G: '' })
})

test('PCP_CONF wins over PCP_DIR, which wins over /etc', () => {
  const readText = files({ '/c': 'X=conf', '/p/etc/pcp.conf': 'X=dir', '/etc/pcp.conf': 'X=etc' })
  const x = (env: Record<string, string>): unknown => loadConfig(env, { readText }).variables['X']
  expect(x({ PCP_CONF: '/c', PCP_DIR: '/p' })).toBe('conf')
  expect(x({ PCP_DIR: '/p' })).toBe('dir')
  expect(x({})).toBe('etc')
})

test('the environment wins over the file', () => {
  const readText = files({ '/usr/local/etc/pcp.conf': 'X=file\nY=file' })
  const { path, variables } = loadConfig({ X: 'env' }, { readText })
  expect(path).toBe('/usr/local/etc/pcp.conf')
  expect(variables).toMatchObject({ X: 'env', Y: 'file' })
})

test('names a file that is missing', () => {
  expect(() => loadConfig({ PCP_CONF: '/nowhere' }, { readText: files({}) })).toThrow('/nowhere')
})

test('without pcp.conf users have their own directories, root those of the system', () => {
  const env = { HOME: '/home/a', XDG_RUNTIME_DIR: '/run/user/7' }
  const user = loadConfig(env, { readText: files({}), uid: 7 })
  expect(user.path).toBeUndefined()
  expect(user.variables).toMatchObject({
    PCP_RUN_DIR: '/run/user/7/pcp',
    PCP_LOG_DIR: '/home/a/.local/state/pcp',
    PCP_PMCDCONF_PATH: '/home/a/.config/pcp/pmcd/pmcd.conf',
  })
  expect(loadConfig(env, { readText: files({}), uid: 0 }).variables).toMatchObject({
    PCP_RUN_DIR: '/run/pcp',
    PCP_PMCDCONF_PATH: '/etc/pcp/pmcd/pmcd.conf',
  })
})

test('files that commands need are in the directory of settings', () => {
  const paths = {
    PCP_PMCDCONF_PATH: '/made/pmcd/pmcd.conf',
    PCP_PMLOGGERCONTROL_PATH: '/made/pmlogger/control',
    PCP_PMIECONTROL_PATH: '/made/pmie/control',
  }
  const text = 'PCP_SYSCONF_DIR=/made\n'
  expect(loadConfig({ PCP_CONF: '/c' }, { readText: files({ '/c': text }) }).variables).toMatchObject(paths)
  expect(loadConfig({ PCP_SYSCONF_DIR: '/made' }, { readText: files({}), uid: 0 }).variables).toMatchObject(
    paths,
  )
})

test('every variable that the code needs has a value on a machine without PCP', () => {
  const { variables } = loadConfig({ HOME: '/home/a' }, { readText: files({}), uid: 0 })
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join('src', file), 'utf8'))
  const names = sources.flatMap((text) => [
    ...Array.from(text.matchAll(/\['(PCP_\w+)'\]!/g), ([, name]) => name!),
    ...Array.from(text.matchAll(/controlVariable: '(\w+)'/g), ([, name]) => name!),
  ])
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => variables[name] === undefined)).toEqual([])
})

test('a home directory that another user could create is not trusted', () => {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-config-'))
  try {
    chmodSync(dir, 0o1777)
    const load = (): unknown => loadConfig({ HOME: join(dir, 'absent') }, { readText: files({}), uid: 7 })
    expect(load).toThrow(/lets other users create the missing part: set HOME to a directory of your own/)
    chmodSync(dir, 0o755)
    load()
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('directories are those of the environment, else below the home', () => {
  expect(userDirs({ HOME: '/h' })).toEqual({
    config: '/h/.config',
    data: '/h/.local/share',
    state: '/h/.local/state',
    run: '/h/.local/state/pcp/run',
  })
  const named = { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s', XDG_RUNTIME_DIR: '/r' }
  expect(userDirs({ HOME: '/h', ...named })).toEqual({ config: '/c', data: '/d', state: '/s', run: '/r/pcp' })
})

test('relative and empty names do not count', () => {
  const relative = { XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: '', XDG_STATE_HOME: './s', XDG_RUNTIME_DIR: 'r' }
  expect(userDirs({ HOME: '/h', ...relative })).toEqual(userDirs({ HOME: '/h' }))
})

test('without HOME the home is that of the account, never a shared directory', () => {
  for (const env of [{}, { HOME: '' }, { HOME: 'h' }]) expect(homeDir(env)).toBe(userInfo().homedir)
})
