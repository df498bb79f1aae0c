import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openAgent } from '../../../src/pmda/open-agent.ts'
import { tool as pmiectl } from '../../../src/tools/pmiectl/index.ts'
import { tool as pmlogctl } from '../../../src/tools/pmlogctl/index.ts'
import { demoAgent } from '../../lib/demo-agent.ts'
import { runTool, testIo } from '../run-tool.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmlogctl-'))
  for (const name of ['pmlogger/control.d', 'pmlogger/class.d', 'pmie/control.d', 'tmp/pmlogger', 'archives'])
    mkdirSync(join(dir, name), { recursive: true })
})
afterEach(() => rmSync(dir, { recursive: true }))

function env(): Record<string, string> {
  return {
    PCP_SYSCONF_DIR: dir,
    PCP_PMLOGGERCONTROL_PATH: join(dir, 'pmlogger/control'),
    PCP_PMIECONTROL_PATH: join(dir, 'pmie/control'),
    PCP_TMP_DIR: join(dir, 'tmp'),
    PCP_TMPFILE_DIR: dir,
    PCP_ARCHIVE_DIR: join(dir, 'archives'),
    PCP_LOG_DIR: join(dir, 'logs'),
    PCP_BINADM_DIR: '/nowhere',
    PCP_USER: 'pcp',
    PCP_GROUP: 'pcp',
  }
}

async function run(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const io = {
    ...testIo('pmlogctl', args, env(), openAgent(demoAgent)),
  }
  const status = await pmlogctl.run(io)
  const plain = (text: string): string =>
    text
      .replace(/\S*\/pmlogctl\.\w+\//g, 'SCRATCH/')
      .replaceAll(dir, 'DIR')
      .replace(/pcp \S*_check/, 'pcp CHECK')
  return { status, stdout: plain(io.printed.stdout), stderr: plain(io.printed.stderr) }
}

function control(name: string, text: string): void {
  writeFileSync(join(dir, 'pmlogger/control.d', name), text)
}

const TWO = `$version=1.1
$class=web
db1 n n PCP_ARCHIVE_DIR/db1 -c x
#!#db2 n n PCP_ARCHIVE_DIR/db2 -c x
`

test('status shows running, failed and stopped instances', async () => {
  control('two', TWO)
  const archive = join(dir, 'archives/db1/20261122.10.31')
  writeFileSync(join(dir, 'tmp/pmlogger', String(process.pid)), `4330\nhost\n${archive}\npmlogger\n`)
  expect(await run('-V', 'status')).toEqual({
    status: 0,
    stdout: `pmcd Host            Archive           Class        PID State    Instance Id
db1                  20261122.10.31    web      ${String(process.pid).padStart(7)} running  db1
db2                  ?                 web            ? stopped by pmlogctl db2
`,
    stderr: '',
  })
  rmSync(join(dir, 'tmp/pmlogger', String(process.pid)))
  expect((await run('status', 'db1')).stdout).toMatch(/^db1 +\? +web +\? dead {4}$/m)
  expect((await run('-V', 'status', 'db1')).stdout).toContain('   + pmlogger.log not available\n')
})

test('a dry run shows the control file of a new instance, and leaves nothing behind', async () => {
  const { status, stdout, stderr } = await run('-N', '-V', 'create', 'db9')
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`--- start control file ---
# created by pmlogctl on Thu Jan  1 00:00:00 UTC 1970
$class=default
#DO NOT REMOVE OR EDIT THE FOLLOWING LINE
$version=1.1
db9 n n PCP_ARCHIVE_DIR/db9 -c ./db9.config
--- end control file ---
Installing control file: DIR/pmlogger/control.d/db9
+ cp SCRATCH/control DIR/pmlogger/control.d/db9
+ sudo -u pcp -g pcp CHECK -c DIR/pmlogger/control.d/db9
`)
  expect(readdirSync(dir).sort()).toEqual(['archives', 'pmie', 'pmlogger', 'tmp'])
  expect(readdirSync(join(dir, 'pmlogger/control.d'))).toEqual([])
})

test('two instances cannot share a directory', async () => {
  control('two', TWO)
  expect(await run('-N', 'create', 'db1')).toMatchObject({
    status: 1,
    stderr:
      'Error: host db1 and directory PCP_ARCHIVE_DIR/db1 already defined in DIR/pmlogger/control.d/two\n',
  })
  expect((await run('-N', '-i', 'two', 'create', 'db3')).stderr).toBe(
    'Error: control file DIR/pmlogger/control.d/two already exists\n',
  )
})

test('destroy removes a line, and the file with its last one', async () => {
  control('two', TWO)
  expect((await run('-N', '-VV', '-f', '-c', 'web', 'destroy', 'db2')).stdout).toContain(
    '4d3\n< #!#db2 n n PCP_ARCHIVE_DIR/db2 -c x\n+ cp SCRATCH/control DIR/pmlogger/control.d/two\n',
  )
  control('two', TWO.replace(/#!#.*\n/, ''))
  expect(await run('-N', 'destroy', 'db1')).toEqual({
    status: 0,
    stdout: '+ rm DIR/pmlogger/control.d/two\n',
    stderr: 'Warning: cannot find PID for host db1 pmlogger, already exited?\n',
  })
})

test('start and stop remove and add the mark of a line', async () => {
  control('two', TWO)
  expect(
    (await run('-N', '-V', 'start', 'db2')).stdout,
  ).toBe(`Looking for pmlogger using directory DIR/archives/db2 ...
Not found, launching new pmlogger
Enable pmlogger for host db2 and directory PCP_ARCHIVE_DIR/db2 in control file DIR/pmlogger/control.d/two
+ cp SCRATCH/control DIR/pmlogger/control.d/two
+ sudo -u pcp -g pcp CHECK -c DIR/pmlogger/control.d/two
`)
  expect(await run('-N', 'stop', 'db2')).toEqual({
    status: 0,
    stdout: '',
    stderr: 'Warning: pmlogger for host db2 already stopped, nothing to do\n',
  })
})

test('check leaves stopped instances alone', async () => {
  control('two', TWO)
  expect((await run('-N', 'check')).stdout).toBe('+ sudo -u pcp -g pcp CHECK -c DIR/pmlogger/control.d/two\n')
})

test.each([
  [['fubar'], 'Error: command "fubar" not known\n'],
  [['-N', 'stop'], 'Error: "stop" command requres hostname(s) and/or a --class\n'],
  [['-N', '-i', 'x', 'stop', 'h'], 'Error: -i option may only be used with create or cond-create commands\n'],
  [
    ['-N', '-c', 'no', 'create', 'h'],
    'Error: policy file DIR/pmlogger/class.d/no not found, class no is not defined so cannot create\n',
  ],
  [
    ['-N', '-c', 'no', 'destroy', 'h'],
    'Error: policy file DIR/pmlogger/class.d/no not found, class no is not defined so cannot destroy\n',
  ],
  [
    ['-N', 'start', 'h'],
    'Warning: host h not defined in any pmlogger control file\nError: no matching host(s) to start\n',
  ],
])('refuses %j', async (args, stderr) => {
  expect(await run(...args)).toEqual({ status: 1, stdout: '', stderr })
})

const HEAD = '[class]\nc\n[ident]\nc-%h\n[control]\n%h n n PCP_ARCHIVE_DIR/%i -c x\n'

test.each([
  ['', false],
  ['[create]\nexists(demo.nosuch)', false],
  ['[create]\nexists(demo.one)', true],
  ['[create]\nexists(demo)', true],
  ['[create]\nvalues(demo.none)', false],
  ['[create]\nvalues(demo.one)', true],
  ['[create]\nvalues(demo)', true],
  ['[create]\ncondition(demo.one - 1)', false],
  ['[create]\ncondition(demo.one + 1)', true],
  ['[create]\ncondition(demo.one +)', false],
  ['[create]\nhostname(^db)', true],
  ['[create]\nhostname(^b)\nexists(demo.one)', false],
])('cond-create evaluates %j', async (conditions, isTrue) => {
  const policy = join(dir, 'policy')
  writeFileSync(policy, HEAD + conditions)
  const { status, stdout, stderr } = await run('-N', '-p', policy, 'cond-create', 'db1')
  expect(status).toBe(0)
  expect(stdout.includes('+ cp')).toBe(isTrue)
  expect(stderr.includes('Warning: no instance created for host db1')).toBe(!isTrue)
})

test('reports an invalid host name pattern of a policy', async () => {
  const policy = join(dir, 'policy')
  writeFileSync(policy, `${HEAD}[create]\nhostname(()`)
  const { status, stderr } = await run('-N', '-p', policy, 'cond-create', 'db1')
  expect(status).toBe(0)
  expect(stderr).toContain('bad regular expression in hostname((): Unmatched (')
})

test('a host of several classes gets one instance with all their configurations', async () => {
  const wants = (name: string): void => {
    writeFileSync(join(dir, name), `log on once { ${name} }`)
    const line = `%h n n PCP_ARCHIVE_DIR/%i -c ${join(dir, name)}`
    writeFileSync(join(dir, 'pmlogger/class.d', name), `[control]\n${line}\n[create]\nexists(demo.one)\n`)
  }
  wants('a')
  wants('b')
  const { stdout } = await run('-N', '-VV', 'cond-create', 'db1')
  expect(stdout).toContain(
    '--- start combined config file ---\nlog on once { a }\nlog on once { b }\n--- end combined config file ---\n',
  )
  expect(stdout).toContain('db1 n n PCP_ARCHIVE_DIR/pmfind-db1 -c ./pmfind-db1.config -r\n')
})

test('pmiectl has logs instead of directories', async () => {
  writeFileSync(join(dir, 'pmie/control.d/e'), '$version=1.1\ndb1 n n PCP_LOG_DIR/pmie/e1/pmie.log -c x\n')
  const { stdout } = await runTool(pmiectl, ['-V', 'status'], undefined, env())
  expect(stdout).toBe(`pmcd Host            Rules Evaluations Class        PID State    Instance Id
db1                      ?           ? default        ? dead     e1
   + pmie.log not available
`)
})
