/** Symbolic links planted by a directory's owner where root is about to write. */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStatistics } from '../../src/pmie/statistics.ts'
import { openRunFiles, writeLatestFolio } from '../../src/pmlogger/run-files.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { openNewFile } from '../../src/sys/new-file.ts'
import { writePidFile } from '../../src/sys/service-files.ts'

const SECRET = 'root:x:0:0\n'
const pid = String(process.pid)

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'planted-'))
  for (const name of ['pmlogger', 'pmie']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'passwd'), SECRET)
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Each writes a file in a directory of PCP's account; returns a function that stops it. */
const WRITERS: readonly [name: string, write: () => (() => void) | undefined][] = [
  [
    join('pmlogger', pid),
    () => {
      const warn = (text: string): void => expect.fail(text)
      const places = { mapDir: join(dir, 'pmlogger'), socketPath: join(dir, 's'), isPrimary: false, warn }
      const files = openRunFiles({ ...places, pid: process.pid })
      files.publish({ port: 4330, pmcdHost: 'here', archive: '/a' })
      files.publish({ port: 4330, pmcdHost: 'here', archive: '/b' })
      return () => files.close()
    },
  ],
  [
    join('pmie', pid),
    () => {
      const facts = { rulesName: 'rules', logName: 'log', host: 'here', rules: 1, expectedPerSec: 1 }
      const file = openStatistics(dir, facts, (text) => expect.fail(text))
      file.update({ actions: 1, isTrue: 1, isFalse: 1, isUnknown: 1, actual: 1 })
      return () => file.close()
    },
  ],
  [
    'Latest',
    () => {
      writeLatestFolio(dir, 'here', 'archive')
      return undefined
    },
  ],
  [
    'pmcd.pid',
    () => {
      const log = logOnFd(2, { progname: 'pmcd', host: 'here' })
      writePidFile(join(dir, 'pmcd.pid'), log, (_, what) => expect.fail(what))
      return undefined
    },
  ],
]

test.each(WRITERS)('%s replaces a planted link by a new file', (name, write) => {
  for (const plant of [
    () => symlinkSync(join(dir, 'passwd'), join(dir, name)),
    () => symlinkSync(join(dir, 'missing'), join(dir, name)),
    () => linkSync(join(dir, 'passwd'), join(dir, name)),
  ]) {
    plant()
    const end = write()
    expect(lstatSync(join(dir, name)).isFile()).toBe(true)
    expect(readFileSync(join(dir, name), 'utf8')).not.toBe(SECRET)
    end?.()
    rmSync(join(dir, name), { force: true })
    expect(readFileSync(join(dir, 'passwd'), 'utf8')).toBe(SECRET)
    expect(existsSync(join(dir, 'missing'))).toBe(false)
  }
})

test('a directory with the name of a new file is kept', () => {
  mkdirSync(join(dir, 'taken'))
  expect(() => openNewFile(join(dir, 'taken'))).toThrow()
  expect(lstatSync(join(dir, 'taken')).isDirectory()).toBe(true)
})
