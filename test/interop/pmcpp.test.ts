/** Compares our pmcpp with the installed one: same input, same output, same messages. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeText } from '../../src/base/text.ts'
import { run } from '../tools/pmcpp-runner.ts'

const reference = ['/usr/lib/pcp/bin/pmcpp', '/usr/libexec/pcp/bin/pmcpp'].find(existsSync)
if (reference === undefined) console.log('pmcpp interop skipped: PCP is not installed')

const INPUTS: readonly (readonly [string, ...string[]])[] = [
  ['#define A 1\r\nA\r\n'],
  ['a /* x */ \r\nb /* y\r\n z */\r\n/* q */\r\n'],
  ['é/* é */x\n'],
  ['#elsefoo\n'],
  ['#ifdef A\n#define B 1\n#define B 2\n#endif\n'],
  ['#define B 1\n#define B 2 3\n'],
  ['#define A /*c*/ x y\n'],
  ['#shell "echo hi" /* c */ \n#shell ""\n'],
  ['%shell "exit 3"\n', '-s'],
  ['A #A #{A}\n', '-r', '-DA=5'],
  ['A\n', '--def=A=1'],
  ['A\n', '-P', '-D', 'A= 1'],
  ['A\n', '-D', '9'],
]

function runReference(
  args: readonly string[],
  input: string,
): { rc: number; stdout: string; stderr: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'pmcpp-'))
  try {
    writeFileSync(join(cwd, 'in'), input)
    const { status, stdout, stderr } = spawnSync(reference!, [...args, 'in'], { cwd })
    return { rc: status!, stdout: decodeText(stdout), stderr: decodeText(stderr) }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

const beforeUsage = (text: string): string => text.replace(/Usage:.*/s, 'Usage:')

describe.skipIf(reference === undefined)('pmcpp beside the reference', () => {
  test.each(INPUTS)('%j', async (input, ...args) => {
    const want = runReference(args, input)
    const got = await run({ name: '', args, input, rc: 0, stdout: '', stderr: '' })
    expect(got.stdout).toBe(want.stdout)
    expect(beforeUsage(got.stderr)).toBe(beforeUsage(want.stderr))
    expect(got.rc).toBe(want.rc)
  })
})
