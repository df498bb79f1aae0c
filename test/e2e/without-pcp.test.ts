/** Every command of the registry, run by an ordinary user on a machine without PCP. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { programOf } from '../lib/commands.ts'
import { writeLongArchive } from '../lib/long-archive.ts'
import { RAW_TEXT, withoutPcp } from '../lib/without-pcp.ts'

/** Command lines besides the one without arguments; ARCHIVE is an archive of a Linux host. */
const LINES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'Make.stdpmid': [['-V']],
  Rebuild: [['-n'], ['-v']],
  chkhelp: [['help']],
  'pmda-install': [['-l'], ['-Q', 'sample']],
  'pmda-remove': [['sample']],
  'pmda-new': [['made']],
  pcp: [['-a', 'ARCHIVE'], ['-a', 'ARCHIVE', 'free'], ['--help']],
  'pcp-dstat': [['--list'], ['--version']],
  pcp2csv: [['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2json: [['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2xml: [['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2openmetrics: [['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2opentelemetry: [['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2graphite: [['-E', '1', '-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2influxdb: [['-g', 'http://127.0.0.1:1', '-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2remotewrite: [['-u', 'http://127.0.0.1:1', '-s', '1', 'kernel.all.load']],
  pcp2elasticsearch: [['-g', 'http://127.0.0.1:1', '-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2zabbix: [['-g', '127.0.0.1', '-p', '1', '-a', 'ARCHIVE', '-s', '2', 'kernel.all.load']],
  pcp2arrow: [['-a', 'ARCHIVE', '-s', '2', '-F', 'out.arrow', 'kernel.all.load']],
  mkaf: [['.']],
  pmafm: [['folio', 'list']],
  pmcd: [['-f', '-c', 'absent.conf']],
  pmcd_wait: [['-t', '1', '-v']],
  pmconfig: [['-a'], ['-L'], ['-s', 'PCP_VAR_DIR']],
  pmfind: [['-m', 'shell']],
  pmie: [['-C', '-c', 'absent']],
  pmie_check: [['-V'], ['-s'], ['-N']],
  pmie_daily: [['-V'], ['-N']],
  pmieconf: [['rules'], ['-f', 'made', 'list']],
  pmiectl: [['status'], ['check'], ['create', 'there'], ['-N', 'create', 'there']],
  pminfo: [
    ['-a', 'ARCHIVE', '-f', 'kernel.all.load'],
    ['-L', '-f', 'kernel.all.load'],
  ],
  pmlc: [['-P']],
  pmlogconf: [['config']],
  pmlogctl: [['status'], ['check'], ['create', 'there'], ['-N', 'create', 'there']],
  pmlogger: [
    ['-C', '-c', 'absent'],
    ['-L', '-s', '1', '-c', '/dev/null', 'made'],
  ],
  pmlogger_check: [['-V'], ['-s'], ['-N']],
  pmlogger_daily: [['-V'], ['-N'], ['-K'], ['-M']],
  pmlogger_merge: [['ARCHIVE', 'merged']],
  pmlogger_rewrite: [['ARCHIVE'], ['-N', 'ARCHIVE']],
  pmnsadd: [['absent']],
  pmnsdel: [['made']],
  pmnsmerge: [['absent', 'made']],
  pmpasswd: [['-l'], ['user']],
  pmpost: [['a note']],
  pmrep: [
    ['-a', 'ARCHIVE', '-s', '2', ':vmstat'],
    ['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load'],
  ],
  pmrepconf: [['config']],
  pmstat: [['-s', '1', '-t', '1msec']],
  pmstore: [['sample.long.one', '1']],
  pmval: [
    ['-L', '-s', '1', 'kernel.all.load'],
    ['-a', 'ARCHIVE', '-s', '2', 'kernel.all.load'],
  ],
}

let dir: string
let closedPort: number

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-without-'))
  closedPort = await freePort()
  writeLongArchive(join(dir, 'archive'))
  for (const part of ['0', 'index', 'meta']) chmodSync(join(dir, `archive.${part}`), 0o644)
})
afterAll(() => rmSync(dir, { recursive: true }))

interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly text: string
}

function run(name: string, args: readonly string[]): Promise<Ended> {
  const { home, env, user } = withoutPcp(dir)
  const words = args.map((arg) => arg.replace('ARCHIVE', join(dir, 'archive')))
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [...programOf(name), ...words], {
      cwd: home,
      // A collector of this machine must not be used.
      env: { ...env, PMCD_PORT: String(closedPort), PMCD_SOCKET: join(home, 'no.socket') },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
    child.once('error', failed)
    child.once('close', (status, signal) => done({ status, signal, text: text + logsBelow(home) }))
  })
}

/** Returns what commands without a terminal write to logs instead. */
function logsBelow(home: string): string {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(home, name), 'utf8'))
    .join('')
}

/** Commands that run until they are ended: pmstat has its own agents without a collector. */
const ENDLESS: ReadonlySet<string> = new Set([
  'pcp-ts-start',
  'pmproxy',
  'pmcd',
  'pmcd_wait',
  'pmfind',
  'pmstat',
  'pcp-vmstat',
])
const ALL = TOOLS.flatMap(({ name }) =>
  [...(ENDLESS.has(name) ? [] : [[]]), ...(LINES[name] ?? [])].map((args) => ({
    line: [name, ...args].join(' '),
    name,
    args,
  })),
)

test.each(ALL)('$line', async ({ name, args }) => {
  const { status, signal, text } = await run(name, args)
  expect(text).not.toMatch(RAW_TEXT)
  expect(signal).toBeNull()
  if (status !== 0) expect(text).not.toBe('')
})

/** Work without PCP. */
test.each([
  ['pminfo', '-a', 'ARCHIVE', '-f', 'kernel.all.load'],
  ['pminfo', '-L', '-f', 'kernel.all.load'],
  ['pmval', '-L', '-s', '1', 'kernel.all.load'],
  ['pmrep', '-a', 'ARCHIVE', '-s', '2', ':vmstat'],
  ['pcp', '-a', 'ARCHIVE', 'free'],
  ['pmpost', 'a note'],
  ['pmconfig', '-a'],
  ['pmlogctl', 'status'],
  ['pmiectl', 'status'],
  ['pmlogger_check'],
  ['pmlogger_daily'],
  ['pmie_check'],
  ['pmie_daily'],
  ['pmda-install', '-Q', 'simple'],
  ['pcp-ts', 'agent', 'new', 'made'],
  ['pcp-ts', 'agent', 'list'],
] as const)('%s %s %s succeeds', async (name, ...args) => {
  const { status, text } = await run(name, args)
  expect(status, text).toBe(0)
})
