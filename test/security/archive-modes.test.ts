/** Access to archives of other accounts: archives contain values that only their owner may fetch from a collector. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { compressFile, GZIP } from '../../src/archive-store/compress.ts'
import { openProcessLog } from '../../src/pmlogger/process-log.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { PrimaryLogger } from '../../src/start/primary-logger.ts'
import { archiveAccess, makeArchiveDir } from '../../src/sys/archive-access.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { decompressFile } from '../../src/sys/decompress.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { canActForOthers, NOBODY, runAsNobody } from '../lib/accounts.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { testIo } from '../tools/run-tool.ts'

let dir: string
let umask: number
const signal = new AbortController().signal

const isRoot = canActForOthers()

beforeEach(() => {
  umask = process.umask(0o022)
  dir = mkdtempSync(join(tmpdir(), 'modes-'))
  chmodSync(dir, 0o755)
})
afterEach(() => {
  process.umask(umask)
  rmSync(dir, { recursive: true, force: true })
})

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** Returns the modes of an archive's files. */
function modesOf(base: string): string[] {
  const names = readdirSync(dir).filter((name) => name.startsWith(`${base}.`))
  return [...new Set(names.map((name) => modeOf(join(dir, name))))]
}

/** Makes an archive; `second` is the time of its first record. */
function make(base: string, second = 1): void {
  const archive = createArchive(join(dir, base), { hostname: 'elsewhere', timezone: 'UTC' })
  archive.addMetric('made.level')
  for (let i = 0; i < 3; i++) {
    archive.put('made.level', i)
    archive.write({ sec: second + i, nsec: 0 })
  }
  archive.close()
}

async function run(tool: Tool, args: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const io = testIo(tool.name, args, env)
  const status = await tool.run({ ...io, cwd: dir })
  expect(`${status} ${io.printed.stderr}`).toMatch(/^0 /)
}

/** Records once with the logger of `npm start`; resolves to the directory and base path of the archive. */
async function record(variables: Record<string, string> = {}): Promise<{ place: string; base: string }> {
  writeFileSync(join(dir, 'config'), 'log mandatory on 1 hour { demo.one }\n')
  const place = join(dir, 'archives', 'here')
  const logger = new PrimaryLogger({
    dir: place,
    configPath: () => join(dir, 'config'),
    variables: { PCP_TMP_DIR: dir, PCP_RUN_DIR: dir, PCP_VAR_DIR: dir, PMLOGGER_PORT: '0', ...variables },
    localOnly: true,
    open: () => openLocal({ agents: [demoAgent] }),
    log: { line: () => {}, notice: () => {} },
  })
  const { name, stop } = await logger.begin(signal)
  await stop('Enough, exiting')
  await logger.close()
  return { place, base: join(place, name) }
}

test('a recorded archive and the directories created for it are restricted to owner and group', async () => {
  const { place, base } = await record()
  expect([place, join(place, '..')].map(modeOf)).toEqual(['750', '750'])
  expect(['0', 'meta', 'index'].map((part) => modeOf(`${base}.${part}`))).toEqual(['640', '640', '640'])
})

test.runIf(isRoot)('another account cannot read a recorded archive', async () => {
  const { place, base } = await record()
  await expect(runAsNobody('cat', [`${base}.0`])).rejects.toThrow('Permission denied')
  for (const each of [place, join(place, '..')]) chmodSync(each, 0o755) // like directories of earlier versions
  await expect(runAsNobody('cat', [`${base}.0`])).rejects.toThrow('Permission denied')
})

test('PCP_ARCHIVE_MODE sets another mode; the umask still applies, and an invalid value grants no access', async () => {
  const { place, base } = await record({ PCP_ARCHIVE_MODE: '0644' })
  expect([place, `${base}.0`].map(modeOf)).toEqual(['755', '644'])
  process.umask(0o077)
  make('closed')
  expect(modesOf('closed')).toEqual(['600'])
  for (const nonsense of ['', 'rw-r--r--', '0o644', '7777', '-1'])
    expect(archiveAccess(dir, { PCP_ARCHIVE_MODE: nonsense }).mode).toBe(0o640)
  expect(archiveAccess(dir, { PCP_ARCHIVE_MODE: '777' }).mode).toBe(0o666)
  expect(archiveAccess(dir, { PCP_ARCHIVE_MODE: '000' }).mode).toBe(0o600)
})

test("the log of the process has the mode of other daemons' logs: it has no values", () => {
  openProcessLog('log', dir, false).close()
  expect(modeOf(join(dir, 'log'))).toBe('644')
})

test.each<[string, () => Promise<{ tool: Tool }>, readonly string[]]>([
  ['pmlogextract', () => import('../../src/tools/pmlogextract/index.ts'), ['a', 'made']],
  ['pmlogreduce', () => import('../../src/tools/pmlogreduce/index.ts'), ['-A', '1sec', 'a', 'made']],
  ['pmlogrewrite', () => import('../../src/tools/pmlogrewrite/index.ts'), ['a', 'made']],
  [
    'pmrep',
    () => import('../../src/tools/pmrep/index.ts'),
    ['-a', 'a', '-o', 'archive', '-F', 'made', 'made.level'],
  ],
  ['sheet2pcp', () => import('../../src/tools/sheet2pcp/index.ts'), ['sheet.csv', 'map.xml', 'made']],
])('%s restricts archives to owner and group', async (_, load, args) => {
  make('a')
  writeFileSync(join(dir, 'sheet.csv'), '1/3/2024 10:00:00,1\n')
  const map = '<metric>one</metric><datetime></datetime> <data>one</data>'
  writeFileSync(join(dir, 'map.xml'), `<?xml version="1.0"?>\n<sheet heading="0">${map}</sheet>`)
  const { tool } = await load()
  const absolute = args.map((arg) => (arg === 'made' || arg === 'a' ? join(dir, arg) : arg))
  await run(tool, absolute)
  expect(modesOf('made')).toEqual(['640'])
  rmSync(join(dir, 'made.0'))
  for (const part of ['meta', 'index']) rmSync(join(dir, `made.${part}`), { force: true })
  await run(tool, absolute, { PCP_ARCHIVE_MODE: '0664' })
  expect(modesOf('made')).toEqual(['644'])
})

test('the replacement of several archives has the most restrictive mode of them, regardless of umask and setting', async () => {
  make('a')
  make('b', 10)
  for (const part of ['0', 'meta', 'index']) chmodSync(join(dir, `b.${part}`), 0o600)
  const { tool } = await import('../../src/tools/pmlogextract/index.ts')
  await run(tool, ['--replace', 'a', 'b', 'whole'], { PCP_ARCHIVE_MODE: '0644' })
  expect(modesOf('whole')).toEqual(['600'])
  expect(existsSync(join(dir, 'a.0'))).toBe(false)
})

test('an archive that is rewritten in place keeps its mode, and for root its owner', async () => {
  make('a')
  const paths = ['0', 'meta', 'index'].map((part) => join(dir, `a.${part}`))
  for (const path of paths) {
    if (isRoot) chownSync(path, NOBODY, NOBODY)
    chmodSync(path, 0o664)
  }
  writeFileSync(join(dir, 'rules'), 'global { hostname -> other }\n')
  const { tool } = await import('../../src/tools/pmlogrewrite/index.ts')
  await run(tool, ['-i', '-c', 'rules', 'a'])
  expect(readFileSync(paths[0]!).includes('other')).toBe(true)
  expect(paths.map(modeOf)).toEqual(['664', '664', '664'])
  if (isRoot) expect(paths.map((path) => statSync(path).uid)).toEqual([NOBODY, NOBODY, NOBODY])
})

test("a replacement that cannot be given to the old file's group is closed to all groups", () => {
  const refuse = (): never => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
  }
  const modes: number[] = []
  const disk = {
    open: (_: string, __: number, mode = 0) => modes.push(mode),
    setOwner: refuse,
    setMode: (_: number, mode: number) => modes.push(mode),
    close: () => {},
  }
  const owner = { uid: 12, gid: 34 }
  archiveOutput('/x/a', { mode: 0o664, keepsMode: true, owner, disk: disk as never }).create('0')
  expect(modes).toEqual([0o604, 0o604])
})

test('compressing and unpacking never exposes a restricted file, even temporarily', async () => {
  make('a')
  const path = join(dir, 'a.0')
  chmodSync(path, 0o600)
  await GZIP.compress(dir, 'a.0')
  expect(modeOf(`${path}.gz`)).toBe('600')
  await decompressFile(`${path}.gz`, join(dir, 'unpacked'))
  expect(modeOf(join(dir, 'unpacked'))).toBe('600')
  rmSync(`${path}.gz`)
  await compressFile(path, GZIP)
  expect(modeOf(`${path}.gz`)).toBe('600')
})

const pcpGroup = readFileSync('/etc/group', 'utf8').match(/^pcp:[^:]*:(\d+):/m)?.[1]

test.runIf(isRoot && pcpGroup !== undefined)(
  "archives that root creates in directories of PCP's group belong to that group",
  () => {
    const gid = Number(pcpGroup)
    const home = join(dir, 'pmlogger')
    mkdirSync(home)
    chownSync(home, 0, gid)
    makeArchiveDir(join(home, 'here'), {})
    const output = archiveOutput(join(home, 'here', 'a'), archiveAccess(join(home, 'here'), {}))
    output.create('0').close()
    for (const path of [join(home, 'here'), join(home, 'here', 'a.0')]) expect(statSync(path).gid).toBe(gid)
    // Root grants nothing to other groups.
    chownSync(home, 0, NOBODY)
    expect(archiveAccess(home, {})).toEqual({ mode: 0o640 })
  },
)

test.runIf(isRoot)('archives that root creates in a directory of another account belong to its group', () => {
  const home = join(dir, 'of-another')
  mkdirSync(home)
  chownSync(home, NOBODY, NOBODY)
  expect(archiveAccess(home, {})).toEqual({ mode: 0o640, owner: { uid: 0, gid: NOBODY } })
})
