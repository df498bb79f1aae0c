/** The state directories of earlier versions, taken over by this one. docs/reference/state.md, test/fixtures/upgrade/README.md */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { openArchive } from '../../src/archive.ts'
import { connect } from '../../src/pmapi/index.ts'
import { STATE_FILE } from '../../src/start/state-version.ts'
import { point } from '../agents/otel/requests.ts'
import { eventually } from '../lib/eventually.ts'

const FIXTURES = resolve('test', 'fixtures', 'upgrade', 'state')
/** The archive in the fixtures. */
const OLD = '20261123.23.39'
/** A time after its last record, in seconds. */
const OLD_END = Date.UTC(2026, 10, 23, 23, 40) / 1000
/** The fixtures grow older, but retention must not remove them. */
const KEEP = ['--keep-days', '36500']

let dir: string
const children: ChildProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'upgrade-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

/** Copies the directories of an earlier version, recorded on this host. */
function takeState(commit: string): void {
  cpSync(join(FIXTURES, commit), dir, { recursive: true })
  renameSync(join(dir, 'archives', 'HOST'), archives())
}

const archives = (): string => join(dir, 'archives', hostname())

interface Running {
  readonly child: ChildProcess
  readonly printed: () => string
  readonly closed: Promise<unknown>
}

function start(env: Record<string, string> = {}): Running {
  const args = [
    'start',
    '--dir',
    dir,
    '--port',
    '0',
    '--web-port',
    '0',
    '--agents',
    'otel,sample,simple,pmcd',
    ...KEEP,
  ]
  const child = spawn(process.execPath, [resolve('bin', 'pcp-ts'), ...args], {
    env: { ...process.env, PCP_OTEL_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  return { child, printed: () => text, closed: once(child, 'close') }
}

async function untilItSays({ child, printed, closed }: Running, what: string): Promise<void> {
  while (!printed().includes(what)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${printed()}`)
    await Promise.race([once(child.stdout!, 'data'), closed])
  }
}

const versions = (): unknown[] =>
  ['etc', 'lib', 'archives'].map(
    (root) => (JSON.parse(readFileSync(join(dir, root, STATE_FILE), 'utf8')) as { version: number }).version,
  )

/** Names of the instances that an application sends, in another order than the earlier version saw them. */
async function send(port: number): Promise<void> {
  const dataPoints = ['amber', 'tin', 'copper', 'zinc'].map((name) =>
    point({ asInt: '3', attributes: { name } }),
  )
  const scopeMetrics = [{ scope: { name: 'shop' }, metrics: [{ name: 'queue', gauge: { dataPoints } }] }]
  const attributes = [
    { key: 'service.name', value: { stringValue: 'shop' } },
    { key: 'service.instance.id', value: { stringValue: 'a1' } },
  ]
  const answer = await fetch(`http://127.0.0.1:${port}/v1/metrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceMetrics: [{ resource: { attributes }, scopeMetrics }] }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, '{}'])
}

test.each(['c67b04a9', 'b4d706e8'])(
  'the directories of %s: records continue, instances keep their numbers',
  async (commit) => {
    takeState(commit)
    const port = await freePort()
    const running = start({ PCP_OTEL_PORT: String(port) })
    await untilItSays(running, 'Ctrl-C stops everything.')
    expect(versions()).toEqual([1, 1, 1])
    // The settings of the user are in force: this metric is recorded every second because of them.
    const [, recorded] = / {2}recording {2}(\S+) /.exec(running.printed())!
    await send(port)
    const [, address] = /listening {2}localhost:(\d+)/.exec(running.printed())!
    const context = await connect(`localhost:${address}`)
    const desc = await context.desc(await context.lookupName('otel.queue'))
    const { ids, names } = await context.instances(desc.indom)
    const found = Object.fromEntries(names.map((name, i) => [/ name:(\w+) /.exec(name)![1], ids[i]]))
    expect(found).toEqual({ zinc: 0, copper: 1, amber: 2, tin: 3 })
    await context.close()
    // The old archive and the new one are read as one.
    await eventually(async () => {
      const both = await openArchive(archives())
      try {
        const parts = new Set<string>()
        const id = await both.lookupName('sample.long.one')
        for (const { timestamp, sets } of both.archive.records({}))
          if (sets.some((set) => set.pmid === id)) parts.add(timestamp.sec <= OLD_END ? 'old' : 'new')
        expect([...parts].sort()).toEqual(['new', 'old'])
      } finally {
        await both.close()
      }
    })
    running.child.kill('SIGINT')
    await running.closed
    const kept = readdirSync(archives())
      .filter((name) => name !== 'rollups')
      .map((name) => name.replace(/\.(?:\d+|meta|index)(?:\.gz)?$/, ''))
    expect([...new Set(kept)].sort()).toEqual([OLD, recorded!.slice(archives().length + 1)].sort())
  },
)

test('killed at any moment of the start, the next start takes the directories over', async () => {
  // From before anything is read until everything runs.
  for (const after of ['', 'collecting']) {
    rmSync(dir, { recursive: true })
    takeState('b4d706e8')
    const first = start()
    if (after === '') await once(first.child, 'spawn')
    else await untilItSays(first, after)
    first.child.kill('SIGKILL')
    await first.closed
    const second = start()
    await untilItSays(second, 'Ctrl-C stops everything.')
    expect(versions()).toEqual([1, 1, 1])
    second.child.kill('SIGINT')
    await second.closed
  }
})

test('a start of an older version ends before it writes anything', async () => {
  takeState('b4d706e8')
  const path = join(dir, 'lib', STATE_FILE)
  const newer = { kind: 'data', version: 2, writtenBy: 'pcp-ts 9.0.0', since: '2031-01-01T00:00:00.000Z' }
  writeFileSync(path, JSON.stringify(newer))
  const before = readdirSync(dir, { recursive: true }).sort()
  const running = start()
  await running.closed
  expect(running.child.exitCode).toBe(1)
  expect(running.printed()).toMatch(
    / the data have format 2 of pcp-ts 9\.0\.0, and pcp-ts \S+ knows formats up to 1\. /,
  )
  expect(readdirSync(dir, { recursive: true }).sort()).toEqual(before)
})
