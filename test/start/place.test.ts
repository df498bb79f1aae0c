import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { makePlace, planPlace, usableSocketPath } from '../../src/start/place.ts'
import { loadConfig } from '../../src/sys/config.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-place-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('--dir holds everything, and its pcp.conf says where', () => {
  const place = planPlace(dir, {}, '/our/bin', {})
  makePlace(place)
  const { variables } = loadConfig({ PCP_CONF: place.confPath })
  expect(place.socketPath).toBe(join(dir, 'run', 'pmcd.socket'))
  expect(variables['PCP_RUN_DIR']).toBe(join(dir, 'run'))
  expect(variables['PCP_LOG_DIR']).toBe(join(dir, 'log'))
  expect(variables['PCP_ARCHIVE_DIR']).toBe(join(dir, 'archives'))
  expect(variables['PCP_BINADM_DIR']).toBe('/our/bin')
})

test("without --dir state goes to the user's XDG directories", () => {
  const place = planPlace(undefined, { HOME: '/home/u', XDG_RUNTIME_DIR: '/run/user/7' }, '/bin', {})
  expect(place.confPath).toBe('/home/u/.config/pcp/pcp.conf')
  expect(place.socketPath).toBe('/run/user/7/pcp/pmcd.socket')
  expect(place.logPath).toBe('/home/u/.local/state/pcp/log/pmcd/pmcd.log')
  expect(place.archiveDir).toBe('/home/u/.local/state/pcp/archives')
})

test('an installed PCP keeps its programs, its state is left alone', () => {
  const installed = {
    PCP_BINADM_DIR: '/usr/lib/pcp/bin',
    PCP_RUN_DIR: '/run/pcp',
    PCP_PYTHON_PROG: '/usr/bin/python3',
    PCP_TLSCONF_PATH: '/etc/pcp/tls.conf',
  }
  const { variables } = planPlace(dir, {}, '/our/bin', installed)
  expect(variables).toMatchObject({
    PCP_BINADM_DIR: '/usr/lib/pcp/bin',
    PCP_PYTHON_PROG: '/usr/bin/python3',
    PCP_RUN_DIR: join(dir, 'run'),
    PCP_TLSCONF_PATH: join(dir, 'etc', 'tls.conf'),
  })
  const chosen = { PCP_TLSCONF_PATH: '/my/tls.conf' }
  expect(planPlace(dir, chosen, '/our/bin', installed).variables).toMatchObject(chosen)
})

test("the simple agent's configuration is provided once and then left alone", () => {
  const place = planPlace(dir, {}, '/bin', {})
  makePlace(place)
  const conf = join(dir, 'lib', 'pmdas', 'simple', 'simple.conf')
  expect(readFileSync(conf, 'utf8')).toBe('sec,min,hour\n')
  writeFileSync(conf, 'hour\n')
  makePlace(place)
  expect(readFileSync(conf, 'utf8')).toBe('hour\n')
})

test('a file in the way gives one line that names it', () => {
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const attempt = (): void => makePlace(planPlace(file, {}, '/bin', {}))
  expect(attempt).toThrow(PcpError)
  expect(attempt).toThrow(
    `Cannot write to ${file}/etc: Not a directory; choose another place: npm start -- --dir DIR`,
  )
})

test('a place is made in a directory such as /tmp, where others can make files', () => {
  const shared = join(dir, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  for (let i = 0; i < 2; i++) makePlace(planPlace(join(shared, 'pcp'), {}, '/bin', {}))
  expect(readdirSync(join(shared, 'pcp', 'etc'))).toEqual(['pcp.conf'])
  chmodSync(shared, 0o777)
  expect(() => makePlace(planPlace(join(shared, 'other'), {}, '/bin', {}))).toThrow(
    /shared on the way to .* is writable by everybody/,
  )
  expect(readdirSync(shared)).toEqual(['pcp'])
})

test('a path too long for a socket has no socket', () => {
  expect(usableSocketPath(planPlace(`/${'x'.repeat(110)}`, {}, '/bin', {}))).toBeUndefined()
  expect(usableSocketPath(planPlace('/short', {}, '/bin', {}))).toBe('/short/run/pmcd.socket')
})
