import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tool } from '../../../src/tools/pmseries/index.ts'
import { START, writeHost } from '../../series/lib.ts'
import { runTool } from '../run-tool.ts'

let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pmseries-'))
  for (const host of ['db1', 'db2']) writeHost(directory, host)
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['--directory', directory, ...args])

test('values below the identifier of their series; instances named', async () => {
  const [id] = (await run('demo.load{hostname=="db1"}')).stdout.split('\n')
  const { stdout } = await run('-t', 'demo.load{hostname=="db1"}[count:1]')
  const lines = stdout.split('\n')
  expect(lines.slice(0, 2)).toEqual(['', id])
  expect(lines[2]).toMatch(new RegExp(`^    \\[${START + 50}000\\.000\\] 5\\.000000e\\+00 [0-9a-f]{40}$`))
  expect((await run('-t', '-w', 'count:1', id!)).stdout).toBe(stdout)
})

test('archives are by default those of the loggers', async () => {
  const { stdout } = await runTool(tool, ['-S'], undefined, {
    PCP_ARCHIVE_DIR: directory,
    PCP_TS_RUN_DIRS: '/nowhere',
  })
  expect(stdout.split('\n')).toContain(join(directory, 'db2', 'day1'))
})

test('everything about the series of a query', async () => {
  const { stdout } = await run('-F', 'demo.name{hostname=="db2"}')
  expect(stdout).toContain('    PMID: 77.0.3\n    Data Type: string  InDom: PM_INDOM_NULL 0xffffffff\n')
  expect(stdout).toContain('    Metric: demo.name\n    labels {"hostname":"db2"}\n')
})

test.each([
  [
    ['--directory', '/no/such'],
    '/no/such: No such file or directory; name a directory of archives with --directory',
  ],
  [['-h', 'keys'], '--directory names archives: it cannot be used with -h, -p, -c or -L'],
  [['-L', '{source.path:"x"}'], '--directory names archives: it cannot be used with -h, -p, -c or -L'],
  [['-d'], 'Name the series'],
])('%j is an error', async (args, text) => {
  const { status, stderr } = await run(...args)
  expect(status).toBe(1)
  expect(stderr).toContain(text)
})

test('without arguments the usage is printed', async () => {
  const { status, stderr } = await run()
  expect(status).toBe(1)
  expect(stderr).toContain('Usage: pmseries')
})
