/** How the administration commands speak. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openVoice, type Voice } from '../../../../src/tools/lib/admin/voice.ts'
import { type TestIo, testIo } from '../../run-tool.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'voice-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const WHERE = { file: '/control', line: 3 }

function open(io: TestIo, logPath: string | undefined, verbosity = 0): Voice {
  return openVoice(io, { showsOnly: false, verbosity, logPath, subject: 'logging', warnsWithColon: true })
}

test('what was wrong goes to the log, and a person is told where that is', () => {
  const io = testIo('pmlogger_daily', [])
  const log = join(dir, 'sub', 'daily.log')
  const voice = open({ ...io, stderr: { ...io.stderr, isTerminal: true } }, log)
  voice.tell(1, 'not asked for')
  voice.warning(WHERE, 'odd')
  expect(voice.hasFailed).toBe(false)
  voice.error(WHERE, 'bad', 'h')
  expect(voice.hasFailed).toBe(true)
  voice.close()
  expect(readFileSync(log, 'utf8')).toBe(
    'pmlogger_daily: [/control:3]\nWarning: odd\n' +
      'pmlogger_daily: [/control:3]\nError: bad\n... logging for host "h" unchanged\n',
  )
  expect(io.printed).toEqual({ stdout: '', stderr: `pmlogger_daily: something is wrong, see ${log}\n` })
})

test('a timer is told nothing, and the log before is kept', () => {
  const io = testIo('pmlogger_daily', [])
  const log = join(dir, 'daily.log')
  for (const text of ['first', 'second']) {
    const voice = open(io, log, 1)
    voice.tell(1, text)
    voice.fail()
    voice.close()
  }
  expect([readFileSync(log, 'utf8'), readFileSync(`${log}.prev`, 'utf8')]).toEqual(['second\n', 'first\n'])
  expect(io.printed).toEqual({ stdout: '', stderr: '' })
})

test('without a log, or where none can be made, it is standard output', () => {
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
