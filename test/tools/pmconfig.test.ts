import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tool } from '../../src/tools/pmconfig.ts'
import { runTool } from './run-tool.ts'

let dir: string
let env: Record<string, string>

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmconfig-'))
  const conf = join(dir, 'pcp.conf')
  writeFileSync(conf, `# comment\nPCP_RUN_DIR=/run/x\nPCP_AWK_PROG="gawk --posix"\nPCP_ODD=it's\nPCP_NONE=\n`)
  env = { PCP_CONF: conf }
})
afterAll(() => rmSync(dir, { recursive: true }))

test.each(['', '-a', '-l'])('shows the variables of the file in its order: %s', async (option) => {
  const { status, stdout } = await runTool(tool, option === '' ? [] : [option], undefined, env)
  expect(status).toBe(0)
  expect(stdout).toBe("PCP_RUN_DIR=/run/x\nPCP_AWK_PROG=gawk --posix\nPCP_ODD=it's\nPCP_NONE=\n")
})

test('the environment takes precedence, even for variables missing in the file', async () => {
  const with2 = { ...env, PCP_RUN_DIR: '/else', PCP_FOO: 'bar' }
  const { stdout } = await runTool(tool, ['PCP_RUN_DIR', 'PCP_FOO', 'nosuch'], undefined, with2)
  expect(stdout).toBe('PCP_RUN_DIR=/else\nPCP_FOO=bar\nnosuch=\n')
})

test('prints shell commands that keep variables already set', async () => {
  const { stdout } = await runTool(tool, ['-s'], undefined, env)
  const line = (name: string, word: string): string => `export ${name}=\${${name}:-${word}}\n`
  expect(stdout).toBe(
    line('PCP_RUN_DIR', "'/run/x'") +
      line('PCP_AWK_PROG', "'gawk --posix'") +
      line('PCP_ODD', "'it'\\''s'") +
      line('PCP_NONE', "'false'"),
  )
})

test('shows features, without needing a file', async () => {
  const none = { PCP_CONF: join(dir, 'nosuch') }
  const { stdout } = await runTool(tool, ['-L'], undefined, none)
  expect(stdout).toMatch(/^pcp_version=\d+\.\d+\.\d+\npmapi_version=4\nopenssl_version=\d.*\nsasl_version=\n/)
  expect((await runTool(tool, ['-L', '-s', 'ipv6', 'nosuch'], undefined, none)).stdout).toBe(
    "export ipv6='true'\nexport nosuch='false'\n",
  )
})

test('a given but missing file is an error', async () => {
  const { status, stderr } = await runTool(tool, [], undefined, { PCP_CONF: join(dir, 'nosuch') })
  expect(status).toBe(1)
  expect(stderr).toContain('nosuch')
})
