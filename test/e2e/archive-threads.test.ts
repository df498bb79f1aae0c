/** Archives are read in threads, so that an expensive request does not delay others. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FleetAnswer } from '../../src/archive/fleet/answer.ts'
import { ArchiveThreads, THREAD_LIMITS } from '../../src/pmproxy/archive-threads.ts'
import { Query } from '../../src/pmproxy/http/query.ts'
import { archive, result } from '../archive/build.ts'
import { zstdBomb } from '../lib/bombs.ts'
import { bundleProgram } from '../lib/bundle-tools.ts'

let dir: string
let program: string
let threads: ArchiveThreads | undefined
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-threads-'))
  program = join(dir, 'archive-thread.cjs')
  await bundleProgram(program, { file: 'src/pmproxy/archive-thread.ts' })
  place('good')
  place('bomb', zstdBomb(56_000))
  place('stuck', zstdBomb(3_000_000, 1, 27))
})
afterEach(async () => {
  await threads?.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

function place(name: string, volume?: Uint8Array): void {
  mkdirSync(join(dir, 'archives', name), { recursive: true })
  const point = (time: number): Uint8Array => result(3, time, { pmid: 1, values: [[-1, time]] })
  for (const [file, bytes] of Object.entries(archive('a', { volumes: [[point(1), point(2)]] })))
    writeFileSync(join(dir, 'archives', name, file), bytes)
  if (volume === undefined) return
  rmSync(join(dir, 'archives', name, 'a.0'))
  writeFileSync(join(dir, 'archives', name, 'a.0.zst'), volume)
}

function open(limits: Partial<typeof THREAD_LIMITS> = {}, variables: Record<string, string> = {}) {
  threads = new ArchiveThreads(
    program,
    { roots: [join(dir, 'archives')], variables },
    { ...THREAD_LIMITS, ...limits },
  )
  return threads
}

const ask = (name: string, signal: AbortSignal = new AbortController().signal) => ({
  path: '/ui/api/children',
  query: new Query(`archive=0/${name}/a&prefix=`),
  signal,
})
const list = { path: '/ui/api/archives', query: new Query(''), signal: new AbortController().signal }

test('a thread returns the same answers as the server, and errors have their code', async () => {
  const all = open({}, { PCP_DECOMPRESS_SEC: '60' })
  expect(await all.answer(ask('good'))).toMatchObject({ status: 200, type: 'application/json' })
  await expect(all.answer(ask('none'))).rejects.toMatchObject({ code: 'PM_ERR_LOGFILE' })
  await expect(all.answer(ask('bomb'))).rejects.toMatchObject({
    code: 'EFBIG',
    message: expect.stringMatching(
      /a\.0\.zst: cannot be decompressed: its 219 KiB expand to more than 64 MiB/,
    ),
  })
  const { body } = await all.answer(list)
  expect(JSON.parse(body as string)).toMatchObject({ archives: [{ id: '0/good/a' }] })
})

test('all hosts are read in a thread; archives that are too expensive are counted', async () => {
  const all = open({}, { PCP_DECOMPRESS_SEC: '1' })
  const { signal } = new AbortController()
  const { body } = await all.answer({ path: '/ui/api/fleet', query: new Query('at=2'), signal })
  const { hosts, unreadable, unread } = JSON.parse(body as string) as FleetAnswer
  expect([hosts.key.length, unreadable, unread]).toEqual([1, 2, 0])
  expect(all.count).toBe(1)
})

test('a request that takes too long is ended with its thread; others are answered meanwhile and afterwards', async () => {
  const all = open({ requestMs: 4000 }, { PCP_DECOMPRESS_SEC: '1000' })
  const stuck = expect(all.answer(ask('stuck'))).rejects.toMatchObject({ code: 'PM_ERR_TIMEOUT' })
  const behind = expect(all.answer(ask('stuck'))).rejects.toMatchObject({ code: 'PM_ERR_TIMEOUT' })
  const other = await all.answer(ask('good'))
  expect([other.status, all.count]).toEqual([200, 2])
  await stuck
  await behind
  expect((await all.answer(ask('good'))).status).toBe(200)
})

test('requests that wait behind it are answered by another thread', async () => {
  const all = open({ threads: 1, requestMs: 4000 }, { PCP_DECOMPRESS_SEC: '1000' })
  const stuck = expect(all.answer(ask('stuck'))).rejects.toMatchObject({ code: 'PM_ERR_TIMEOUT' })
  const behind = all.answer(ask('good'))
  await stuck
  expect((await behind).status).toBe(200)
})

test('requests of a client that left are abandoned', async () => {
  const all = open({ threads: 1 }, { PCP_DECOMPRESS_SEC: '1000' })
  const client = new AbortController()
  const gone = expect(all.answer(ask('stuck', client.signal))).rejects.toMatchObject({ code: 'ECANCELED' })
  client.abort()
  await gone
})

test('threads without requests end', async () => {
  const all = open({ idleMs: 1 })
  await all.answer(ask('good'))
  await expect.poll(() => all.count).toBe(0)
  expect((await all.answer(ask('good'))).status).toBe(200)
})

test('closing answers all pending requests', async () => {
  const all = open({ threads: 1 }, { PCP_DECOMPRESS_SEC: '1000' })
  const asked = [all.answer(ask('stuck')), all.answer(ask('good'))].map((each) =>
    expect(each).rejects.toMatchObject({ code: 'PM_ERR_NOTCONN' }),
  )
  await all.close()
  await Promise.all(asked)
  await expect(all.answer(ask('good'))).rejects.toMatchObject({ code: 'PM_ERR_NOTCONN' })
})
