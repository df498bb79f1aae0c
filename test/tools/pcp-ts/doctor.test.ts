import { expect, test } from 'vitest'
import type { InstanceStatus } from '../../../src/start/status.ts'
import type { Check, Machine, Verdict } from '../../../src/tools/pcp-ts/doctor/check.ts'
import { CHECKS } from '../../../src/tools/pcp-ts/doctor/checks.ts'
import { resultText } from '../../../src/tools/pcp-ts/doctor/index.ts'
import { runChecks } from '../../../src/tools/pcp-ts/doctor/run-checks.ts'

const NOW = Date.UTC(2026, 10, 24, 12)
const INSTANCE: InstanceStatus = {
  kind: 'user',
  runDir: '/run/user/7/pcp',
  pid: 50,
  uptimeSeconds: 500,
  addresses: ['localhost:44321', '/run/user/7/pcp/pmcd.socket'],
  web: 'http://localhost:44323',
  agents: [],
  recording: { dir: '/home/u/archives', archive: '20261124.11.00', bytes: 1 },
  processes: [],
  problems: [],
}

/** A stat line of a process that started this many seconds after boot. */
const stat = (seconds: number): string => `50 (node) S ${'0 '.repeat(18)}${seconds * 100} 0`

const FILES: Readonly<Record<string, string>> = {
  '/proc/self/limits': 'Max open files            4096                 4096                 files\n',
  '/proc/meminfo': 'MemAvailable:    4000000 kB\n',
  '/proc/self/mounts': 'proc /proc proc rw,nosuid 0 0\n',
  '/proc/uptime': '1000.0 1.0\n',
  '/proc/50/stat': stat(500),
}

interface Changes extends Partial<Omit<Machine, 'readText'>> {
  readonly files?: Readonly<Record<string, string>>
}

/** A machine where all is well, with changes. */
function machine({ files = {}, ...changes }: Changes = {}): Machine {
  return {
    env: { PATH: '/usr/local/bin:/usr/bin' },
    platform: 'linux',
    nodeVersion: 'v22.12.0',
    nodeLts: 'Jod',
    glibc: '2.36',
    uid: 7,
    userName: 'u',
    homeDir: '/home/u',
    binDir: '/usr/local/lib/node_modules/pcp-ts/bin',
    nativeProblem: undefined,
    totalMemory: 8e9,
    now: NOW,
    instances: [INSTANCE],
    stateDirs: ['/home/u/.config/pcp', '/home/u/.local/state/pcp'],
    socketPath: '/run/user/7/pcp/pmcd.socket',
    list: () => [],
    exists: (path) => ['/', '/home/u', '/usr/local/bin/pcp-ts'].includes(path),
    isWritable: () => true,
    linkTarget: (path) =>
      path === '/usr/local/bin/pcp-ts' ? '../lib/node_modules/pcp-ts/bin/pcp-ts' : undefined,
    distrust: () => undefined,
    disk: () => ({ freeBytes: 1e10, totalBytes: 1e11, freeInodes: 1e6, totalInodes: 1e7 }),
    listen: async () => undefined,
    probe: async () => undefined,
    lookup: async () => ['127.0.0.1', '::1'],
    get: async () => 200,
    archiveProblem: async () => undefined,
    ...changes,
    readText: (path) => ({ ...FILES, ...files })[path],
  }
}

const idle = { instances: [] }
const listening =
  (port: number, code: string): Machine['listen'] =>
  async (asked) =>
    asked === port ? code : undefined
const HEX_OF_44321 = 'AD21'
const table = `  0: 0100007F:${HEX_OF_44321} 00000000:0000 0A 00000000:00000000 00:00000000 00000000  7 0 9999 1\n`

/** What is wrong with a machine, and the finding of the check: verdict, and a part of its text or advice. */
const BROKEN: Readonly<Record<string, readonly (readonly [Changes, Verdict, string])[]>> = {
  node: [
    [{ nodeVersion: 'v18.20.1' }, 'fail', 'v18.20.1 is too old'],
    [{ nodeVersion: 'v20.18.3' }, 'fail', 'install Node 20.19'],
    [{ nodeVersion: 'v23.1.0', nodeLts: undefined }, 'warn', 'Node 24'],
  ],
  libc: [[{ glibc: undefined }, 'ok', 'musl']],
  koffi: [[{ nativeProblem: 'koffi is not installed' }, 'warn', 'koffi is not installed; lost are']],
  files: [[{ files: { '/proc/self/limits': 'Max open files 256 256 files\n' } }, 'warn', 'ulimit -n 1024']],
  memory: [
    [{ files: { '/proc/meminfo': 'MemAvailable: 100000 kB\n' } }, 'warn', '97 MiB are available'],
    [{ files: { '/sys/fs/cgroup/memory.max': '134217728\n' } }, 'warn', '128 MiB are available'],
    [{ files: { '/sys/fs/cgroup/memory.max': 'max\n' } }, 'ok', '3906 MiB'],
  ],
  root: [[{ uid: 0, userName: 'root' }, 'warn', 'pcp-ts service install --system']],
  platform: [
    [{ platform: 'darwin' }, 'warn', 'not the agents jbd2, kvm, linux'],
    [{ platform: 'win32' }, 'warn', 'without unix sockets'],
  ],
  port: [
    [{ ...idle, listen: listening(44321, 'EADDRINUSE') }, 'warn', 'by a process of another user'],
    [
      {
        ...idle,
        listen: listening(44321, 'EADDRINUSE'),
        files: { '/proc/net/tcp': table, '/proc/60/cmdline': '/usr/lib/pcp/bin/pmcd\0-A\0' },
        list: (dir) => (dir === '/proc' ? ['60', 'self'] : dir === '/proc/60/fd' ? ['3', '4'] : []),
        linkTarget: (path) => (path === '/proc/60/fd/4' ? 'socket:[9999]' : undefined),
      },
      'warn',
      'by process 60 (/usr/lib/pcp/bin/pmcd -A)',
    ],
    [{ listen: listening(44321, 'EADDRINUSE') }, 'ok', 'used by the instance in /run/user/7/pcp'],
    [{ ...idle, listen: listening(44321, 'EACCES') }, 'fail', '--port 44421'],
  ],
  'web-port': [[{ ...idle, listen: listening(44323, 'EADDRINUSE') }, 'warn', '--web-port 44423']],
  loopback: [
    [{ listen: async () => 'EADDRNOTAVAIL' }, 'fail', 'ip link set lo up'],
    [{ listen: async (_, host) => (host === '::1' ? 'EAFNOSUPPORT' : undefined) }, 'ok', 'without IPv6'],
    [{ listen: async (_, host) => (host === '::1' ? undefined : 'EADDRNOTAVAIL') }, 'warn', 'only IPv6'],
  ],
  localhost: [
    [{ lookup: async () => ['192.0.2.1'] }, 'fail', 'resolves to 192.0.2.1'],
    [{ lookup: async () => [] }, 'fail', 'resolves to nothing'],
    [{ lookup: () => Promise.reject(new Error('ENOTFOUND')) }, 'fail', '127.0.0.1 localhost'],
  ],
  web: [
    [
      { get: async () => 'connect ECONNREFUSED' },
      'fail',
      'http://localhost:44323 answers: connect ECONNREFUSED',
    ],
    [{ get: async () => 404 }, 'fail', 'npm run build'],
  ],
  state: [[{ isWritable: (path) => path !== '/home/u' }, 'fail', '/home/u is not writable']],
  trust: [
    [{ distrust: (path) => `${path} is writable by everybody` }, 'fail', '/home/u is writable by everybody'],
  ],
  'socket-path': [[{ socketPath: `/${'x'.repeat(110)}` }, 'warn', 'shorter XDG_RUNTIME_DIR']],
  disk: [
    [
      { disk: () => ({ freeBytes: 1e6, totalBytes: 1e9, freeInodes: 1, totalInodes: 0 }) },
      'fail',
      '--keep-size',
    ],
    [
      { disk: () => ({ freeBytes: 1e9, totalBytes: 1e9, freeInodes: 3, totalInodes: 9 }) },
      'fail',
      '3 files can still',
    ],
    [{ disk: () => undefined }, 'ok', 'enough'],
  ],
  stale: [
    [
      { ...idle, exists: (path) => path.endsWith('pmcd.socket'), probe: async () => 'ECONNREFUSED' },
      'warn',
      'nobody listens on /run/user/7/pcp/pmcd.socket',
    ],
    [{ ...idle, exists: (path) => path.endsWith('instance.json') }, 'warn', 'names a process that has ended'],
  ],
  archives: [
    [{ archiveProblem: async () => 'truncated' }, 'fail', 'pmlogcheck /home/u/archives/20261124.11.00'],
  ],
  instances: [
    [{ instances: [{ ...INSTANCE, problems: ['Agent x has ended'] }] }, 'fail', 'Agent x has ended'],
  ],
  clock: [
    [{ now: Date.UTC(1970, 0, 1) }, 'fail', 'the year 1970'],
    [{ files: { '/proc/50/stat': stat(900) } }, 'warn', 'was set by 400 s'],
  ],
  zone: [[{ env: { TZ: ':Europe/Nowhere' } }, 'warn', 'tzdata']],
  proc: [
    [{ files: { '/proc/self/mounts': 'proc /proc proc rw,hidepid=2 0 0\n' } }, 'warn', 'hidepid=2'],
    [{ files: { '/proc/self/mounts': 'proc /proc proc rw,hidepid=invisible 0 0\n' } }, 'warn', 'gid=GROUP'],
    [{ files: { '/proc/self/mounts': 'tmpfs / tmpfs rw 0 0\n' } }, 'fail', 'mount -t proc'],
    [{ uid: 0, files: { '/proc/self/mounts': 'proc /proc proc rw,hidepid=2 0 0\n' } }, 'ok', 'all'],
  ],
  'security-module': [
    [{ files: { '/proc/self/attr/current': 'node (enforce)\n' } }, 'warn', 'AppArmor profile node'],
    [{ files: { '/sys/fs/selinux/enforce': '1' } }, 'ok', 'ausearch'],
  ],
  container: [
    [{ exists: (path) => path === '/.dockerenv' }, 'warn', 'HOST_MOUNT'],
    [{ exists: (path) => path === '/.dockerenv', env: { HOST_MOUNT: '/host' } }, 'ok', '/host'],
  ],
  linger: [[{ exists: (path) => path.endsWith('/pcp-ts.service') }, 'warn', 'loginctl enable-linger u']],
  'installed-pcp': [
    [{ files: { '/etc/pcp.conf': 'PCP_VERSION=6.0.3\n' } }, 'ok', '6.0.3; its pmcd does not run'],
  ],
  path: [
    [{ env: { PATH: '/usr/bin' } }, 'warn', 'npx pcp-ts'],
    [{ linkTarget: () => '/opt/other/bin/pcp-ts' }, 'warn', 'another installation'],
  ],
  'npm-prefix': [
    [{ env: { npm_config_prefix: '/none' } }, 'warn', 'does not exist'],
    [{ env: { npm_config_prefix: '/' }, isWritable: () => false }, 'warn', 'without sudo'],
  ],
  'pcp-conf': [
    [{ env: { PCP_CONF: '/gone/pcp.conf' } }, 'fail', '/gone/pcp.conf does not exist'],
    [{ env: { PCP_DIR: '/gone' } }, 'fail', '/gone/etc/pcp.conf does not exist'],
    [
      { env: { PCP_CONF: '/c' }, exists: () => true, files: { '/c': 'PCP_RUN_DIR=/run/other\n' } },
      'warn',
      'hides what runs in /run/user/7/pcp',
    ],
  ],
}

const checkOf = (id: string): Check => CHECKS.find((each) => each.id === id)!

test('on a good machine every check is ok', async () => {
  const results = await runChecks(CHECKS, machine())
  expect(results.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(results).toHaveLength(CHECKS.length)
})

test('each check has a case of a broken machine', () => {
  expect(Object.keys(BROKEN).sort()).toEqual(CHECKS.map(({ id }) => id).sort())
})

test.each(
  Object.entries(BROKEN).flatMap(([id, cases]) =>
    cases.map((each) => [id, each[1], each[2], each[0]] as const),
  ),
)('%s: %s, %s', async (id, verdict, words, changes) => {
  const finding = await checkOf(id).run(machine(changes))
  expect(finding.verdict).toBe(verdict)
  expect(`${finding.text} ${finding.advice ?? ''}`).toContain(words)
  expect(finding.advice === undefined).toBe(verdict === 'ok')
})

test('checks of Linux are left out elsewhere, and a check that throws or hangs is a finding', async () => {
  const others = await runChecks(CHECKS, machine({ platform: 'darwin', nativeProblem: 'no' }))
  expect(others.map(({ id }) => id)).not.toContain('proc')
  const odd: readonly Check[] = [
    {
      id: 'throws',
      title: 'T',
      run: () => {
        throw new Error('oops')
      },
    },
    { id: 'hangs', title: 'H', run: () => new Promise(() => {}) },
  ]
  const results = await runChecks(odd, machine(), 5)
  expect(results.map(({ verdict, text }) => [verdict, text])).toEqual([
    ['fail', 'cannot be checked: oops'],
    ['warn', 'no result within 0.005 s'],
  ])
  expect(resultText(results)).toBe(
    'fail  T: cannot be checked: oops\n      → report this as a defect\n' +
      'warn  H: no result within 0.005 s\n      → run it again on an idle machine\n\n0 ok, 1 warnings, 1 failures\n',
  )
})
