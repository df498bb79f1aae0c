/** What whoever started a daemon hears of a start that failed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DAEMON, startReports } from '../../../src/tools/lib/daemon.ts'
import { type OptionTable, parseOptions } from '../../../src/tools/lib/options.ts'
import { testIo } from '../run-tool.ts'

const OPTIONS: OptionTable = { synopsis: '[options]', operands: 'none', rows: [DAEMON.copy] }

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-daemon-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function failing(copy: string): string {
  const io = testIo('pmcd', ['-x', copy])
  const parsed = parseOptions(OPTIONS, io)
  startReports(parsed, { logPath: join(dir, 'no.log'), isDaemon: false }, io).failed('No port is free')
  return io.printed.stderr
}

test('-x has why the start failed in a file, where there is no log', () => {
  expect(failing(join(dir, 'copy'))).toBe('pmcd: No port is free\n')
  expect(readFileSync(join(dir, 'copy'), 'utf8')).toBe('pmcd: No port is free\n')
})

test('a file of -x that cannot be written does not hide why the start failed', () => {
  const text = failing(join(dir, 'nosuch', 'copy'))
  expect(text).toMatch(/^pmcd: No port is free\npmcd: ENOENT: .*nosuch/)
})
