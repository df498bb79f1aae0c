/** Files that make pmlogger processes discoverable. */
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug, setDebug } from '../../src/model/debug.ts'
import { controlSocketPaths, ownSocketPath } from '../../src/pmlogger/control-socket.ts'
import { openRunFiles } from '../../src/pmlogger/run-files.ts'

let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'run-files-'))
})

afterEach(() => {
  clearDebug('all')
  rmSync(dir, { recursive: true })
})

test('the control socket is in the home directory if the run directory is unusable', () => {
  const said: string[] = []
  const say = (text: string): void => void said.push(text)
  writeFileSync(join(dir, 'file'), '')
  const variables = { PCP_RUN_DIR: join(dir, 'file', 'run'), HOME: dir }
  const [first, second] = controlSocketPaths(variables, 7)
  expect([first, second]).toEqual([
    join(dir, 'file', 'run', 'pmlogger.7.socket'),
    join(dir, '.pcp', 'run', 'pmlogger.7.socket'),
  ])
  expect(ownSocketPath(variables, 7, say)).toBe(second)
  expect(existsSync(join(dir, '.pcp', 'run'))).toBe(true)
  expect(ownSocketPath({ PCP_RUN_DIR: join(dir, 'run'), HOME: dir }, 7, say)).toBe(
    join(dir, 'run', 'pmlogger.7.socket'),
  )
  expect(said).toEqual([])
  expect(ownSocketPath({ ...variables, HOME: undefined }, 7, say)).toBe(first)
  expect(said).toEqual([expect.stringContaining('GetPorts: unix domain socket failed: ')])
})

test('there is one primary logger, and its links are removed with it', () => {
  const said: string[] = []
  const warn = (text: string): void => void said.push(text)
  const mapDir = join(dir, 'pmlogger')
  const places = { mapDir, socketPath: join(dir, 's'), isPrimary: true, warn }
  const files = openRunFiles({ ...places, pid: process.pid })
  files.publish({ port: 4330, pmcdHost: 'here', archive: '/a' })
  expect(readlinkSync(join(mapDir, 'primary'))).toBe(join(mapDir, String(process.pid)))
  expect(readlinkSync(join(dir, 'pmlogger.primary.socket'))).toBe(join(dir, 's'))
  const refused = `ERROR: there is already a primary pmlogger running, pid ${process.pid} linkfile=${join(mapDir, 'primary')}`
  expect(() => openRunFiles({ ...places, pid: process.ppid })).toThrow(refused)
  expect(said).toEqual([])
  setDebug('pmlc')
  expect(() => openRunFiles({ ...places, pid: process.ppid })).toThrow(refused)
  expect(said).toEqual([`pmlogger: info: found primary symlink -> pid ${process.pid}`])
  files.close()
  expect(existsSync(join(mapDir, 'primary'))).toBe(false)
})

test('files of a dead logger are removed', () => {
  const mapDir = join(dir, 'pmlogger')
  mkdirSync(mapDir)
  const dead = 4_194_305 // larger than any process id of Linux
  writeFileSync(join(mapDir, String(dead)), '')
  symlinkSync(join(mapDir, String(dead)), join(mapDir, 'primary'))
  const warn = (text: string): void => expect.fail(text)
  openRunFiles({ mapDir, socketPath: join(dir, 's'), pid: process.pid, isPrimary: true, warn })
  expect(existsSync(join(mapDir, String(dead)))).toBe(false)
})

test('files from before the system start are removed, even if the process id is in use', () => {
  const mapDir = join(dir, 'pmlogger')
  mkdirSync(mapDir)
  const map = join(mapDir, String(process.ppid))
  writeFileSync(map, '4330\n')
  symlinkSync(map, join(mapDir, 'primary'))
  const before = Date.now() / 1000 - uptime() - 60
  for (const path of [map, join(mapDir, 'primary')]) lutimesSync(path, before, before)
  const places = { mapDir, socketPath: join(dir, 's'), isPrimary: true, warn: () => {} }
  const files = openRunFiles({ ...places, pid: process.pid })
  expect(existsSync(map)).toBe(false)
  files.close()
})
