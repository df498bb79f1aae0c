import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Lexer } from '../../../src/rules/lexer.ts'
import { Parser } from '../../../src/rules/parse.ts'
import { tool } from '../../../src/tools/pmieconf/index.ts'
import { runTool } from '../run-tool.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pmieconf-'))
  file = join(folder, 'config')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const pmieconf = (...args: string[]): ReturnType<typeof runTool> =>
  runTool(tool, ['-r', 'builtin', '-f', file, ...args])

test('lists at least twenty built-in rules', async () => {
  const { stdout } = await pmieconf('rules')
  expect(stdout.trimEnd().split('\n').length).toBeGreaterThanOrEqual(20)
  expect(stdout).toContain('  memory.swap_low  [Low free swap space]\n')
  expect(existsSync(file)).toBe(false)
})

test('keeps changes, and writes the resulting rules', async () => {
  await pmieconf('modify', 'cpu.util', 'threshold', '70.50%')
  await pmieconf('modify', 'global', 'hosts', 'a b')
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(
    '// pmieconf-pmie 1 builtin\n// 0 global hosts = "a b"\n// 1 cpu.util threshold = 70.5%\n// end\n',
  )
  expect(text).toContain("kernel.all.cpu.user :'a' :'b'")
  expect(text).toContain('> 70.5\n')
  expect((await pmieconf('list', 'cpu.util', 'threshold')).stdout).toContain('\tthreshold = 70.5%\n')
  await pmieconf('undo', 'cpu.util')
  expect(readFileSync(file, 'utf8')).not.toContain('70.5')
})

test('text after the generated rules stays', async () => {
  await pmieconf('-F')
  const { writeFileSync } = await import('node:fs')
  writeFileSync(file, `${readFileSync(file, 'utf8')}mine = kernel.all.nprocs;\n`)
  await pmieconf('enable', 'all')
  expect(readFileSync(file, 'utf8')).toMatch(/preserved\) ---\nmine = kernel\.all\.nprocs;\n$/)
})

test('all rules are valid for pmie', async () => {
  await pmieconf('enable', 'all')
  await pmieconf('modify', 'all', 'pcplog_action', 'yes')
  const parser = new Parser(
    new Lexer(readFileSync(file, 'utf8'), new Map(), (problem) => expect.unreachable(problem)),
  )
  let rules = 0
  for (let statement = parser.next(); statement !== undefined; statement = parser.next()) {
    if (statement.expr.kind === 'rule') rules++
    parser.endStatement()
  }
  expect(rules).toBe(24)
})

test('refuses invalid values and variables', async () => {
  expect((await pmieconf('foo')).stderr).toBe('pmieconf: error - unrecognised command "foo" - try "help"\n')
  expect((await pmieconf('modify', 'memory.swap_low', 'threshold', 'x')).stderr).toContain(
    'It should be a percentage between 0.0 and 100.0.',
  )
  expect((await pmieconf('list', 'memory.swap_low', 'nope')).stderr).toBe(
    'pmieconf: error - variable "nope" is undefined for rule memory.swap_low\n',
  )
  expect((await runTool(tool, ['-r', '/no/such', 'rules'])).stderr).toContain('cannot stat /no/such')
})
