/** Reports about a daemon that fails to start. */
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

test('the file of -x has the error of the start if there is no log', () => {
  expect(failing(join(dir, 'copy'))).toBe('pmcd: No port is free\n')
  expect(readFileSync(join(dir, 'copy'), 'utf8')).toBe('pmcd: No port is free\n')
})

test('an unwritable file of -x does not hide the error of the start', () => {
  const text = failing(join(dir, 'nosuch', 'copy'))
  expect(text).toMatch(/^pmcd: No port is free\npmcd: ENOENT: .*nosuch/)
})
