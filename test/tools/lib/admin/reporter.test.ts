/** Messages of the administration commands. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openReporter, type Reporter } from '../../../../src/tools/lib/admin/reporter.ts'
import { type TestIo, testIo } from '../../run-tool.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reporter-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const WHERE = { file: '/control', line: 3 }

function open(io: TestIo, logPath: string | undefined, verbosity = 0): Reporter {
  return openReporter(io, { showsOnly: false, verbosity, logPath, subject: 'logging', warnsWithColon: true })
}

test('errors go to the log, which is named on a terminal', () => {
  const io = testIo('pmlogger_daily', [])
  const log = join(dir, 'sub', 'daily.log')
  const reporter = open({ ...io, stderr: { ...io.stderr, isTerminal: true } }, log)
  reporter.verbose(1, 'too detailed')
  reporter.warning(WHERE, 'odd')
  expect(reporter.hasFailed).toBe(false)
  reporter.error(WHERE, 'bad', 'h')
  expect(reporter.hasFailed).toBe(true)
  reporter.close()
  expect(readFileSync(log, 'utf8')).toBe(
    'pmlogger_daily: [/control:3]\nWarning: odd\n' +
      'pmlogger_daily: [/control:3]\nError: bad\n... logging for host "h" unchanged\n',
  )
  expect(io.printed).toEqual({ stdout: '', stderr: `pmlogger_daily: something is wrong, see ${log}\n` })
})

test('nothing is printed without a terminal, and the previous log is kept', () => {
  const io = testIo('pmlogger_daily', [])
  const log = join(dir, 'daily.log')
  for (const text of ['first', 'second']) {
    const reporter = open(io, log, 1)
    reporter.verbose(1, text)
    reporter.fail()
    reporter.close()
  }
  expect([readFileSync(log, 'utf8'), readFileSync(`${log}.prev`, 'utf8')]).toEqual(['second\n', 'first\n'])
  expect(io.printed).toEqual({ stdout: '', stderr: '' })
})

test('without a log, or if it cannot be created, messages go to standard output', () => {
  const io = testIo('pmlogger_daily', [])
  const plain = open(io, undefined)
  plain.show('rm x')
  plain.close()
  expect(io.printed.stdout).toBe('+ rm x\n')
  const none = open(io, '/dev/null/x/daily.log')
  none.line('here')
  none.close()
  expect(io.printed.stdout).toBe('+ rm x\nhere\n')
  expect(io.printed.stderr).toContain('Warning: cannot write /dev/null/x/daily.log')
  expect(existsSync('/dev/null/x')).toBe(false)
})
