/** Daily maintenance from an administrator's view: control files, archives of many days, and the commands as processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { PM_TYPE_32, PM_TYPE_U32 } from '../../src/model/types.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { stagingName } from '../../src/sys/staging.ts'
import { bundleTools } from '../lib/bundle-tools.ts'

const TOOLS = {
  pmlogger_daily: 'pmlogger_daily/index.ts',
  pmlogger_merge: 'pmlogger_merge.ts',
  pmlogger_rewrite: 'pmlogger_rewrite.ts',
  pmlogextract: 'pmlogextract/index.ts',
  pmlogrewrite: 'pmlogrewrite/index.ts',
  pmlogmv: 'pmlogmv.ts',
  pmlogcompress: 'pmlogcompress.ts',
  pmdumplog: 'pmlogdump/index.ts',
  pmlogger_check: 'pmlogger_check/index.ts',
  pmlogger: 'pmlogger.ts',
}

let programs: string
let top: string
/** Archives of this host. */
let dir: string
const children: ChildProcess[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'daily-programs-'))
  await bundleTools(programs, TOOLS)
  for (const name of Object.keys(TOOLS)) {
    writeFileSync(join(programs, name), `#!/bin/sh\nexec ${process.execPath} ${programs}/${name}.cjs "$@"\n`)
    chmodSync(join(programs, name), 0o755)
  }
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'daily-e2e-'))
  dir = join(top, 'archives', hostname())
  for (const name of ['tmp', 'log/pmlogger', 'control.d', `archives/${hostname()}`])
    mkdirSync(join(top, name), { recursive: true })
  writeFileSync(
    join(top, 'pcp.conf'),
    `PCP_RUN_DIR=${top}/run\nPCP_TMP_DIR=${top}/tmp\nPCP_SYSCONF_DIR=${top}\nPCP_VAR_DIR=${top}\n` +
      `PCP_LOG_DIR=${top}/log\nPCP_ARCHIVE_DIR=${top}/archives\nPCP_PMLOGGERCONTROL_PATH=${top}/control\n` +
      `PCP_BINADM_DIR=${programs}\nPCP_BIN_DIR=${programs}\nPCP_USER=${userInfo().username}\n`,
  )
  writeFileSync(join(top, 'control'), '# instances are in control.d\n$version=1.1\n')
  control('LOCALHOSTNAME y n PCP_ARCHIVE_DIR/LOCALHOSTNAME -c config.default\n')
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rmSync(top, { recursive: true, force: true })
})

function control(text: string): void {
  writeFileSync(join(top, 'control.d', 'local'), `$version=1.1\n${text}`)
}

function start(name: string, ...args: string[]): ChildProcess {
  const env = Object.entries(process.env).filter(([key]) => !/^(?:PCP|PMCD|PMLOGGER|NODE_EXTRA)_/.test(key))
  const child = spawn(process.execPath, [join(programs, `${name}.cjs`), ...args], {
    cwd: top,
    env: { ...Object.fromEntries(env), TZ: 'UTC', PCP_CONF: join(top, 'pcp.conf') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

/** Runs a command; resolves to its status and its log or output. */
async function run(name: string, ...args: string[]): Promise<{ status: number; said: string }> {
  const child = start(name, ...args)
  let said = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const [status] = await once(child, 'close')
  const log = join(top, 'log', 'pmlogger', `${name}.log`)
  return { status, said: (existsSync(log) ? readFileSync(log, 'utf8') : said).replaceAll(dir, 'DIR') }
}

const DAY = 86_400
const dayOf = (age: number): string =>
  new Date(Date.now() - age * DAY * 1000).toISOString().slice(0, 10).replaceAll('-', '')

/** Creates an archive, some days old, with a record for each given second of the day. */
function make(
  age: number,
  time: string,
  seconds: readonly number[],
  { host = 'here', type = PM_TYPE_32 } = {},
): string {
  const name = `${dayOf(age)}.${time}`
  const begin = Math.floor(Date.now() / 1000 / DAY - age) * DAY
  const archive = new ArchiveImport(archiveOutput(join(dir, name)), {
    version: 3,
    hostname: host,
    timezone: 'UTC',
    pid: 7,
  })
  archive.addMetric('foo.bar', { type })
  for (const second of seconds) {
    archive.put('foo.bar', second)
    archive.write({ sec: begin + second, nsec: 0 })
  }
  archive.close()
  for (const part of ['meta', 'index', '0'])
    utimesSync(join(dir, `${name}.${part}`), begin + DAY / 2, begin + DAY / 2)
  return name
}

/** Returns seconds of the day of an archive's records, without marks, and its host. */
function read(name: string): { seconds: number[]; host: string } {
  const archive = Archive.open(join(dir, name), archiveFiles())
  const reader = new RecordReader(archive)
  const seconds: number[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next())
    if (record.count > 0) seconds.push(record.sec % DAY)
  archive.close()
  return { seconds, host: archive.label.hostname }
}

const names = (): string[] => readdirSync(dir).sort()
const partsOf = (base: string, suffix = ''): string[] => [
  `${base}.0${suffix}`,
  `${base}.index`,
  `${base}.meta${suffix}`,
]

test('archives of a day are merged, and a second run changes nothing', async () => {
  make(1, '00.10', [1, 2])
  make(1, '10.30', [30, 40])
  make(2, '00.10', [5])
  const today = make(0, '00.10', [1])
  const first = await run('pmlogger_daily', '-x', 'never')
  // No recorder runs that could start a new archive: an error that does not stop the rest of the work.
  expect(first).toMatchObject({ status: 1, said: expect.stringContaining('no pmlogger instance running') })
  expect(names()).toEqual([...partsOf(dayOf(2)), ...partsOf(dayOf(1)), ...partsOf(today)])
  expect(read(dayOf(1)).seconds).toEqual([1, 2, 30, 40])
  expect(read(dayOf(2)).seconds).toEqual([5])
  const before = names().map((name) => readFileSync(join(dir, name), 'base64'))
  await run('pmlogger_daily', '-x', 'never')
  expect(names().map((name) => readFileSync(join(dir, name), 'base64'))).toEqual(before)
})

test('-N shows what would be done, and does nothing', async () => {
  make(1, '00.10', [1])
  make(1, '10.30', [3])
  make(20, '00.10', [3])
  const before = names()
  rmSync(join(top, 'log', 'pmlogger'), { recursive: true })
  const { said } = await run('pmlogger_daily', '-N')
  expect(said).toContain(`+ pmlogger_merge -N -f ${dayOf(1)}.00.10 ${dayOf(1)}.10.30 ${dayOf(1)}\n`)
  expect(said).toContain(`${dayOf(20)}.00.10.meta`)
  expect(names()).toEqual(before)
})

test('control files set how long archives are kept, each for the entries that follow', async () => {
  mkdirSync(join(top, 'archives', 'other'))
  control(
    `$PCP_CULLAFTER=3\n$PCP_COMPRESSAFTER=never\nLOCALHOSTNAME n n PCP_ARCHIVE_DIR/LOCALHOSTNAME -c x\n` +
      `$PCP_CULLAFTER=never\nfar n n ${top}/archives/other -c x\n`,
  )
  make(5, '00.10', [1])
  make(2, '00.10', [1])
  await run('pmlogger_daily')
  expect(names()).toEqual(partsOf(dayOf(2)))
})

test('compressed archives are found, read and removed like others', async () => {
  make(1, '00.10', [1])
  make(1, '12.00', [2])
  await run('pmlogger_daily', '-x', '0', '-X', 'gzip', '-f')
  expect(names()).toEqual(partsOf(dayOf(1), '.gz'))
  expect(read(dayOf(1)).seconds).toEqual([1, 2])
  await run('pmlogger_daily', '-k', '0')
  expect(names()).toEqual([])
})

test('rules beside the archives are applied before merging; .NeedRewrite applies them to all', async () => {
  make(1, '00.10', [1])
  make(1, '12.00', [2])
  make(3, '00.10', [3])
  await run('pmlogger_daily', '-x', 'never', '-r')
  writeFileSync(join(dir, 'pmlogrewrite'), 'metric foo.bar { name -> foo.baz }\n')
  writeFileSync(join(top, 'log', 'pmlogger', '.NeedRewrite'), '')
  make(2, '00.10', [1])
  await run('pmlogger_daily', '-x', 'never')
  for (const age of [1, 2, 3]) {
    const archive = Archive.open(join(dir, dayOf(age)), archiveFiles())
    expect(archive.metadata.names.lookup('foo.baz')).toBeDefined()
    archive.close()
  }
  expect(existsSync(join(top, 'log', 'pmlogger', '.NeedRewrite'))).toBe(false)
})

test('a day in which the host was renamed gets the last name', async () => {
  make(1, '00.10', [1], { host: 'old' })
  make(1, '12.00', [2], { host: 'new' })
  const { said } = await run('pmlogger_daily', '-x', 'never')
  expect(said).toContain(`Warning: archives of old and new are merged into one of new for ${dayOf(1)}`)
  expect(read(dayOf(1))).toEqual({ seconds: [1, 2], host: 'new' })
})

test('hosts recorded at the same time are not merged', async () => {
  const parts = [make(1, '00.10', [1, 5], { host: 'one' }), make(1, '12.00', [3, 9], { host: 'two' })]
  const { status, said } = await run('pmlogger_daily', '-x', 'never')
  expect(status).toBe(1)
  expect(said).toContain('Error: host name mismatch for input archives')
  expect(names()).toEqual(parts.flatMap((base) => partsOf(base)))
})

test('a metric whose descriptor changed prevents merging a day, or is omitted with -E', async () => {
  const parts = [make(1, '00.10', [1]), make(1, '12.00', [2], { type: PM_TYPE_U32 })]
  const { status, said } = await run('pmlogger_daily', '-x', 'never')
  expect(status).toBe(1)
  expect(said).toContain('metric foo.bar: type changed from 32 to U32!')
  expect(names()).toEqual(parts.flatMap((base) => partsOf(base)))
})

test('an unreadable archive does not prevent merging the others of its day', async () => {
  make(1, '00.10', [1])
  make(1, '12.00', [2])
  const bad = make(1, '18.00', [2])
  writeFileSync(join(dir, `${bad}.meta`), 'spoilt')
  const { said } = await run('pmlogger_daily', '-x', 'never')
  expect(said).toContain(`${bad}: `)
  expect(read(dayOf(1)).seconds).toEqual([1, 2])
  expect(names()).toContain(`${bad}.0`)
})

test('killed at any time it loses nothing, and the next run completes the work', async () => {
  const seconds = Array.from({ length: 2000 }, (_, i) => i)
  for (const age of [1, 2, 3]) {
    make(age, '00.10', seconds)
    make(age, '12.00', [50_000, 50_001])
  }
  for (const pause of [120, 250, 400]) {
    const child = start('pmlogger_daily', '-x', 'never', '-f')
    child.stdout!.resume()
    child.stderr!.resume()
    await new Promise((resolve) => setTimeout(resolve, pause))
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await run('pmlogger_daily', '-x', 'never', '-f')
  for (const age of [1, 2, 3]) expect(read(dayOf(age)).seconds).toEqual([...seconds, 50_000, 50_001])
  expect(names()).toEqual([3, 2, 1].flatMap((age) => partsOf(dayOf(age))))
})

/** Creates a staging directory like a process that was killed, or is still working in it. */
function leaveStaging(pid: number, ...files: string[]): string {
  const name = stagingName().replace(`.${process.pid}-`, `.${pid}-`)
  mkdirSync(join(dir, name))
  for (const file of files) writeFileSync(join(dir, name, file), 'half')
  return name
}

test.for([
  { work: 'all work', args: ['-x', 'never'] },
  { work: 'compression alone', args: ['-K', '-x', 'never'] },
  { work: 'compression of files that are too young', args: ['-K', '-x', '1000', '-f'] },
])('$work: files of killed commands are removed, and those in use are kept', async ({ args }) => {
  make(1, '00.10', [1])
  leaveStaging(2_000_000_000, `${dayOf(1)}.0`)
  leaveStaging(2_000_000_001)
  const atWork = leaveStaging(process.pid, `${dayOf(1)}.0`)
  writeFileSync(join(dir, '.pcp-ts.lock'), `${hostname()}:2000000000 1 - - aaaaaaaaaaaa\n`)
  const old = Date.now() / 1000 - 3600
  utimesSync(join(dir, '.pcp-ts.lock'), old, old)
  await run('pmlogger_daily', ...args)
  const archive = args.includes('-K') ? `${dayOf(1)}.00.10` : dayOf(1)
  expect(names()).toEqual([atWork, ...partsOf(archive)])
})

test('errors in a control file are reported with their line, and the other lines are processed', async () => {
  writeFileSync(join(top, 'control.d', 'bad'), '$version=1.1\nhost maybe n /x -c x\nLOCALHOSTNAME\n')
  make(1, '00.10', [1])
  const { status, said } = await run('pmlogger_daily', '-x', 'never')
  expect(status).toBe(1)
  expect(said).toContain(`${top}/control.d/bad:2`)
  expect(said).toContain(`${top}/control.d/bad:3`)
  expect(names()).toEqual(partsOf(dayOf(1)))
})

test('a recorder that cannot start is reported with its own message', async () => {
  writeFileSync(join(top, 'some.conf'), 'log mandatory on 1 sec pmcd.pid\n')
  control(`no-such-host.invalid n n PCP_ARCHIVE_DIR/far -c ${top}/some.conf -l own.log\n`)
  const { status, said } = await run('pmlogger_check', '-q')
  expect(status).toBe(1)
  expect(said).toContain('Restarting pmlogger for host "no-such-host.invalid" ... process exited!\n')
  expect(said).toMatch(/Contents of pmlogger output file "own.log" \.\.\.\nLog for pmlogger on /)
  expect(said).toContain('Cannot connect to PMCD on host "no-such-host.invalid"')
})

test('commands list their options', async () => {
  for (const name of ['pmlogger_daily', 'pmlogger_merge', 'pmlogger_rewrite', 'pmlogger_check']) {
    const { status, said } = await run(name, '--help')
    expect([name, status]).toEqual([name, 1])
    expect(said).toMatch(/^Usage: /)
  }
})
