import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Tool, ToolIo } from '../../../src/tools/lib/tool.ts'
import { tool } from '../../../src/tools/pcp/index.ts'
import { type TestIo, testIo } from '../run-tool.ts'

let home: string
let system: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'pcp-')))
  system = join(home, 'system')
  mkdirSync(join(home, '.pcp', 'bin'), { recursive: true })
  mkdirSync(system)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Makes a program that writes its name, arguments and a variable to the file `told`, and exits with a status. */
function program(path: string, status: number): void {
  writeFileSync(path, `#!/bin/sh\necho "$0 $* $PCP_HOST" > ${home}/told\nexit ${status}\n`)
  chmodSync(path, 0o755)
}
const told = (): string => readFileSync(join(home, 'told'), 'utf8').trim()

/** The environment that a command of this package was run with. */
let given: ToolIo | undefined
const ours = (name: string): Tool => ({
  name,
  summary: 'for this test',
  description: '',
  options: { synopsis: '', rows: [] },
  run: async (io) => {
    given = io
    return 3
  },
})
const commands = ['pcp-summary', 'pcp-iostat', 'pmstat'].map((name) => ({
  name,
  load: async () => ours(name),
}))

async function run(args: readonly string[]): Promise<TestIo & { readonly status: number }> {
  const io = testIo('pcp', args, { HOME: home, PCP_BINADM_DIR: system, PATH: process.env['PATH'] ?? '' })
  given = undefined
  const status = await tool.run({ ...io, cwd: home, commands: async () => commands })
  return { ...io, status }
}

test('options before the command become variables, those after it are arguments', async () => {
  const { status } = await run(['-h', 'db1', '-z', '--samples=3', '-t', '5s', 'iostat', '-x', 't', '-h'])
  expect(status).toBe(3)
  expect(given?.progname).toBe('pcp-iostat')
  expect(given?.args).toEqual(['-x', 't', '-h'])
  expect(given?.env).toMatchObject({
    PCP_HOST: 'db1',
    PCP_HOSTZONE: 'true',
    PCP_SAMPLES: '3',
    PCP_INTERVAL: '5s',
  })
})

test('shows a summary without a command', async () => {
  await run(['-a', 'yesterday', '-P'])
  expect([given?.progname, given?.args, given?.env['PCP_ARCHIVE']]).toEqual([
    'pcp-summary',
    ['-P'],
    'yesterday',
  ])
})

test('looks for commands of the user, of this package, of the system, and then for a path', async () => {
  program(join(system, 'pcp-iostat'), 4)
  expect((await run(['iostat'])).status).toBe(3)
  program(join(home, '.pcp', 'bin', 'pcp-iostat'), 5)
  expect((await run(['iostat'])).status).toBe(5)
  program(join(system, 'pcp-other'), 6)
  expect((await run(['-h', 'db1', 'other', 'a'])).status).toBe(6)
  expect(told()).toBe(`${system}/pcp-other a db1`)
  program(join(home, 'mine.sh'), 7)
  expect((await run(['./mine.sh'])).status).toBe(7)
  expect((await run(['mine.sh', 'b'])).status).toBe(7)
  expect(told()).toBe(`${home}/mine.sh b`)
})

test('suggests similar commands', async () => {
  const { status, printed } = await run(['oistat'])
  expect([status, printed.stderr]).toEqual([
    1,
    'Cannot find a pcp-oistat command to execute\nDid you mean iostat?\n',
  ])
  expect((await run(['quite-another'])).printed.stderr).toContain('Please install pcp system tools package')
})

test('the help lists the commands', async () => {
  program(join(system, 'pcp-other'), 6)
  const { printed } = await run(['--help'])
  expect(printed.stderr).toMatch(/\nAvailable Commands:\s+iostat other summary\n$/)
})
