/** The time stamp of pmlogger_daily, and the notices file. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openReporter, type Reporter } from '../../../src/tools/lib/admin/reporter.ts'
import { parseOptions } from '../../../src/tools/lib/options.ts'
import { isDoneToday, rotateNotices, writeStamp } from '../../../src/tools/pmlogger_daily/day.ts'
import { OPTIONS, settingsOf } from '../../../src/tools/pmlogger_daily/settings.ts'
import { testIo } from '../run-tool.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daily-day-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const NOW = new Date(2026, 10, 22, 12, 0, 5).getTime()

function begin(args: readonly string[] = [], now = NOW) {
  const io = { ...testIo('pmlogger_daily', args), now: () => now }
  const reporter: Reporter = openReporter(io, {
    showsOnly: args.includes('-N'),
    verbosity: 0,
    logPath: undefined,
    subject: 'logging',
    warnsWithColon: true,
  })
  return { io, reporter, settings: settingsOf(parseOptions(OPTIONS, io), io) }
}

test('a stamp is valid for its day', () => {
  const { io, reporter } = begin()
  expect(isDoneToday(dir, io)).toBe(false)
  writeStamp(dir, reporter, io)
  expect(readFileSync(join(dir, 'pmlogger_daily.stamp'), 'utf8')).toBe(
    `# 2026-11-22 12:00:05\n${Math.floor(NOW / 1000)}\n`,
  )
  expect(isDoneToday(dir, io)).toBe(true)
  expect(isDoneToday(dir, begin([], NOW + 12 * 3_600_000).io)).toBe(false)
})

test('a stamp replaces a symbolic link, not its target', () => {
  const { io, reporter } = begin()
  writeFileSync(join(dir, 'precious'), 'kept')
  symlinkSync(join(dir, 'precious'), join(dir, 'pmlogger_daily.stamp'))
  writeStamp(dir, reporter, io)
  expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('kept')
  expect(isDoneToday(dir, io)).toBe(true)
})

test('notices are rotated beyond a size', async () => {
  const variables = { PCP_LOG_DIR: dir }
  const path = join(dir, 'NOTICES')
  writeFileSync(path, 'x'.repeat(100))
  const small = begin(['-s', '101'])
  await rotateNotices(small.settings, { variables, reporter: small.reporter, io: small.io })
  expect(readFileSync(path, 'utf8')).toHaveLength(100)
  const shown = begin(['-s', '100', '-N'])
  await rotateNotices(shown.settings, { variables, reporter: shown.reporter, io: shown.io })
  expect(shown.io.printed.stdout).toBe(`+ mv ${path} ${path}.old\n+ touch ${path}\n`)
  const large = begin(['-s', '100'])
  await rotateNotices(large.settings, { variables, reporter: large.reporter, io: large.io })
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.old`, 'utf8').length]).toEqual(['', 100])
})

test.each([
  [['-k', '7', '-x', '1:12'], { cullAfter: '7', compressAfter: '1:12' }],
  [[], { cullAfter: '14', compressAfter: '0' }],
])('the policy of %j', (args, policy) => {
  expect(begin(args).settings.policy).toMatchObject(policy)
})

test.each([
  [['-p', '-K'], 'Error: -p and -K are mutually exclusive'],
  [['-P', '-Q'], '-P and -Q are mutually exclusive'],
  [['-d', 'big'], '-d requires a size such as 10G, not "big"'],
  [['-s', 'x'], '-s requires a number, not "x"'],
  [['operand'], 'too many arguments'],
])('%j is refused', (args, problem) => {
  const io = testIo('pmlogger_daily', args)
  const parsed = parseOptions(OPTIONS, io)
  settingsOf(parsed, io)
  expect(parsed.problems).toContain(problem)
})
