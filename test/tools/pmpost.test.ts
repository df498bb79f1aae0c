import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tool } from '../../src/tools/pmpost.ts'
import { testIo } from './run-tool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmpost-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

async function post(time: string, ...args: string[]): Promise<{ status: number; stderr: string }> {
  const now = Date.parse(time)
  const io = { ...testIo('pmpost', args, { PCP_LOG_DIR: dir }), now: () => now }
  const status = await tool.run(io)
  if (status === 0) utimesSync(join(dir, 'NOTICES'), now / 1000, now / 1000)
  return { status, stderr: io.printed.stderr }
}

test('appends lines, with the date before the first of a day', async () => {
  await post('2026-11-20T11:12:00.122', 'start', 'pmcd')
  await post('2026-11-20T23:59:59.999', '-x')
  await post('2026-11-22T00:00:00.000', 'stop  pmcd')
  expect(readFileSync(join(dir, 'NOTICES'), 'utf8')).toBe(
    '\nDATE: Fri Nov 20 11:12:00 2026\n11:12:00.122 start pmcd\n23:59:59.999 -x\n' +
      '\nDATE: Sun Nov 22 00:00:00 2026\n00:00:00.000 stop  pmcd\n',
  )
})

test('a message becomes a single printable line', async () => {
  await post('2026-11-20T00:00:00', 'x\n00:00:00.000 stop pmcd\x1b[2J\u202e')
  expect(readFileSync(join(dir, 'NOTICES'), 'utf8')).toMatch(
    /\n00:00:00\.000 x\\x0a00:00:00\.000 stop pmcd\\x1b\[2J\\u202e\n$/,
  )
})

test('reports errors, and does not follow links', async () => {
  expect(await post('2026-11-20T00:00:00')).toEqual({ status: 1, stderr: 'Usage: pmpost message\n' })
  symlinkSync(join(dir, 'other'), join(dir, 'NOTICES'))
  const { status, stderr } = await post('2026-11-20T00:00:00', 'x')
  expect(status).toBe(1)
  expect(stderr).toContain(`pmpost: cannot post to ${join(dir, 'NOTICES')}`)
})

test.runIf(process.geteuid?.() === 0)(
  'files created by root belong to the owner of the directory',
  async () => {
    chownSync(dir, 1234, 5678)
    await post('2026-11-20T00:00:00', 'x')
    const { uid, gid, mode } = statSync(join(dir, 'NOTICES'))
    expect([uid, gid, mode & 0o777]).toEqual([1234, 5678, 0o664])
  },
)
