import {
  existsSync,
  lchownSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ctime, openLog } from '../../src/sys/log.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'log-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const options = {
  progname: 'pmcd',
  host: 'vm',
  pid: 42,
  clock: () => new Date(2026, 10, 5, 9, 22, 51).getTime(),
}

test('a log has a header, notices with time and level, and a footer', () => {
  const path = join(dir, 'pmcd.log')
  const log = openLog(path, options)
  log.notice('warning', 'text')
  log.line('as it is')
  log.close()
  log.close()
  log.line('too late')
  expect(readFileSync(path, 'utf8')).toBe(
    'Log for pmcd on vm started Thu Nov  5 09:22:51 2026\n\n' +
      '[Thu Nov  5 09:22:51] pmcd(42) Warning: text\nas it is\n\nLog finished Thu Nov  5 09:22:51 2026\n',
  )
})

test('text from clients cannot forge notices or control a terminal', () => {
  const path = join(dir, 'pmcd.log')
  const log = openLog(path, options)
  const forged = '[Thu Nov  5 09:22:51] pmcd(42) Info: all is well'
  log.notice('warning', `no agent "x\x1b[2J\n${forged}"`)
  log.line(`a table\n${forged}\n  with \u202erows\r`)
  log.line(forged)
  log.notice(
    'error',
    new Error('bad\nname').stack!.split('\n').slice(0, 3).join('\n').replace(/at .*/, 'at run'),
  )
  log.close()
  const lines = readFileSync(path, 'utf8').split('\n').slice(2, -3)
  expect(lines).toEqual([
    `[Thu Nov  5 09:22:51] pmcd(42) Warning: no agent "x\\x1b[2J\\x0a${forged}"`,
    'a table',
    ` ${forged}`,
    '  with \\u202erows\\x0d',
    ` ${forged}`,
    '[Thu Nov  5 09:22:51] pmcd(42) Error: Error: bad\\x0aname',
    '    at run',
  ])
})

test('the previous log is kept beside the new one', () => {
  const path = join(dir, 'pmcd.log')
  for (const text of ['first', 'second']) {
    const log = openLog(path, options)
    log.line(text)
    log.close()
  }
  expect(readFileSync(`${path}.prev`, 'utf8')).toContain('first')
  expect(readFileSync(path, 'utf8')).toContain('second')
})

test('days have two columns, as in C', () => {
  expect(ctime(new Date(2026, 0, 1, 0, 0, 0).getTime())).toBe('Thu Jan  1 00:00:00 2026')
  expect(ctime(new Date(2026, 11, 31, 23, 59, 59).getTime())).toBe('Thu Dec 31 23:59:59 2026')
})

test('a path that is not a regular file is written to and stays', () => {
  const path = join(dir, 'pmcd.log')
  symlinkSync('/dev/null', path)
  openLog(path, options).close()
  expect(readlinkSync(path)).toBe('/dev/null')
  expect(existsSync(`${path}.prev`)).toBe(false)
})

test.skipIf(process.geteuid?.() !== 0)('root does not follow a link planted by another user', () => {
  const path = join(dir, 'pmcd.log')
  writeFileSync(join(dir, 'precious'), 'text')
  symlinkSync(join(dir, 'precious'), path)
  lchownSync(path, 65534, 65534)
  expect(() => openLog(path, options)).toThrow('ELOOP')
  expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('text')
})
