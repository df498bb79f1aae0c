import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { originOf, sealed } from '../../src/service/seal.ts'
import { parseState } from '../../src/service/systemd.ts'
import { type UnitPlan, unitText } from '../../src/service/unit.ts'
import { unitFileText } from '../../src/service/unit-file.ts'

const PLAN: UnitPlan = {
  scope: 'system',
  node: '/usr/bin/node',
  program: '/usr/local/lib/node_modules/pcp-ts/bin/pcp-ts',
  args: ['start', '--system-dirs', '--port=44421'],
  environment: {},
  version: '1.2.3',
  isPrivileged: false,
}
const linesOf = (changes: Partial<UnitPlan>): readonly string[] =>
  unitText({ ...PLAN, ...changes }).split('\n')

test.each<[string, Partial<UnitPlan>, readonly string[], readonly string[]]>([
  [
    'the machine',
    {},
    [
      'Type=notify',
      'ExecStart=/usr/bin/node /usr/local/lib/node_modules/pcp-ts/bin/pcp-ts start --system-dirs --port=44421',
      'User=pcp-ts',
      'StateDirectory=pcp-ts',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
      'WantedBy=multi-user.target',
    ],
    ['MemoryDenyWriteExecute=yes', 'PrivateUsers=yes', 'ProtectHome=yes'],
  ],
  [
    'the machine, with more rights',
    { isPrivileged: true },
    ['AmbientCapabilities=CAP_DAC_READ_SEARCH CAP_SYS_PTRACE', 'NoNewPrivileges=yes', 'User=pcp-ts'],
    ['CapabilityBoundingSet='],
  ],
  [
    'a user',
    { scope: 'user', args: ['start'], environment: { XDG_DATA_HOME: '/data of u/100%' } },
    ['Environment="XDG_DATA_HOME=/data of u/100%%"', 'NoNewPrivileges=yes', 'WantedBy=default.target'],
    ['User=pcp-ts', 'StateDirectory=pcp-ts', 'ProtectSystem=strict'],
  ],
])('unit of %s', (_name, changes, present, absent) => {
  const lines = linesOf(changes)
  expect(lines).toEqual(expect.arrayContaining([...present]))
  expect(lines.filter((line) => absent.includes(line))).toEqual([])
})

test.each([
  ['plain=1,2', 'plain=1,2'],
  ['two words', '"two words"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['$HOME', '"$$HOME"'],
  ['50%', '50%%'],
  ["it's", '"it\'s"'],
  ['', '""'],
])('argument %j', (word, written) => {
  expect(linesOf({ args: ['start', word] })).toContain(
    `ExecStart=/usr/bin/node ${PLAN.program} start ${written}`,
  )
})

test('what a unit cannot express is refused', () => {
  expect(() => unitText({ ...PLAN, node: '/opt/$x/node' })).toThrow(/cannot name \/opt\/\$x\/node/)
  expect(() => unitText({ ...PLAN, args: ['a\nb'] })).toThrow(/control characters/)
})

test('a seal shows who wrote a file', () => {
  const text = sealed('[Unit]\n', 'advice')
  expect(originOf(text)).toBe('ours')
  expect(originOf(`${text}# mine\n`)).toBe('edited')
  expect(originOf(text.replace('[Unit]', '[unit]'))).toBe('edited')
  expect(originOf('[Unit]\n')).toBe('foreign')
})

test('the state of a unit', () => {
  const text = [
    'LoadState=loaded',
    'ActiveState=active',
    'SubState=running',
    'MainPID=12',
    'StatusText=port=1, x',
    'NRestarts=2',
    'DropInPaths=/a /b',
  ].join('\n')
  const expected = { load: 'loaded', active: 'active', sub: 'running', pid: 12, status: 'port=1, x' }
  expect(parseState(text)).toMatchObject({ ...expected, restarts: 2, dropIns: ['/a', '/b'], enabled: '' })
})

const verify = (path: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8' }
    execFile('systemd-analyze', ['verify', '--man=no', path], { env }, (error, stdout, stderr) =>
      resolve(error?.code === 'ENOENT' ? undefined : `${stdout}${stderr}${error?.message ?? ''}`),
    )
  })

test('systemd accepts the units', async ({ skip }) => {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-unit-'))
  try {
    const program = join(dir, 'pcp-ts')
    writeFileSync(program, '', { mode: 0o755 })
    const path = join(dir, 'pcp-ts.service')
    for (const changes of [{}, { isPrivileged: true }, { scope: 'user' }] as const) {
      const plan = { ...PLAN, node: process.execPath, program, args: ['start', '$x %y "z"'], ...changes }
      writeFileSync(path, unitFileText(unitText(plan)))
      const output = await verify(path)
      if (output === undefined) return skip('there is no systemd-analyze')
      expect(output.split('\n').filter((line) => line.includes('pcp-ts'))).toEqual([])
    }
    writeFileSync(path, 'Nonsense=1\n[Service]\nType=nonsense\n')
    expect(await verify(path)).toContain('pcp-ts.service')
  } finally {
    rmSync(dir, { recursive: true })
  }
})
