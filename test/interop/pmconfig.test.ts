/** Compares pmconfig, pmerr and pmdbg with PCP's on this host. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'

const REFERENCE = '/usr/lib/pcp/bin/pmconfig'
const hasReference = existsSync(REFERENCE) && existsSync('/etc/pcp.conf')

function run(
  command: string,
  args: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): unknown {
  const { status, stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', ...extra },
  })
  return { status, stdout }
}

test.each([
  [['-a'], {}],
  [['-l'], { PCP_OTHER: 'x' }],
  [['PCP_RUN_DIR'], { PCP_RUN_DIR: '/else' }],
  [['-s'], {}],
  [['PCP_LOG_DIR', 'nosuch', 'PCP_OTHER'], { PCP_OTHER: 'x' }],
  [['-s', 'PCP_AWK_PROG', 'PCP_ECHO_N', 'nosuch'], {}],
] as const)('pmconfig %j with %j: pcp.conf and the environment', (args, extra) => {
  if (!hasReference) return console.log('skipped: no pmconfig of PCP here')
  const node = { PATH: `${process.execPath.replace(/\/[^/]*$/, '')}:/usr/bin:/bin`, ...extra }
  expect(run('bin/pmconfig', args, node)).toEqual(run(REFERENCE, args, extra))
})

test('a shell imports the variables, but keeps its own', () => {
  const script = 'eval "$(bin/pmconfig -s PCP_RUN_DIR PCP_USER)"; echo "$PCP_RUN_DIR $PCP_USER"'
  const env = { ...process.env, PCP_RUN_DIR: '/mine', PCP_USER: "o'neill" }
  expect(spawnSync('sh', ['-c', script], { encoding: 'utf8', env }).stdout).toBe("/mine o'neill\n")
})

test('pmdbg knows the same names and numbers as PCP', () => {
  if (!hasReference) return console.log('skipped: no pmdbg of PCP here')
  const names = (command: string): string[] => {
    const { stdout } = spawnSync(command, ['-l'], { encoding: 'utf8' })
    return stdout
      .split('\n')
      .slice(2)
      .map((line) => line.slice(0, 15).trimEnd())
  }
  const ours = new Set(names('bin/pmdbg'))
  expect(names('pmdbg').filter((name) => !ours.has(name))).toEqual([])
  const numbers = (command: string): string[] => {
    const { stdout } = spawnSync(command, ['-l', '-o'], { encoding: 'utf8' })
    return stdout
      .split('\n')
      .slice(2)
      .map((line) => line.slice(0, 33))
  }
  expect(numbers('bin/pmdbg')).toEqual(numbers('pmdbg'))
})
