/** pmlogpush and a spool over HTTP, to a pmproxy in this process. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pushConfig } from '../../src/pmproxy/logger/config.ts'
import { PushClient } from '../../src/push/client.ts'
import { Spool } from '../../src/push/spool.ts'
import { pushTarget } from '../../src/push/target.ts'
import { tool as pmlogpush } from '../../src/tools/pmlogpush.ts'
import { sampleArchive } from '../archive/sample-archive.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { runTool } from '../tools/run-tool.ts'

const TOKEN = 'token-of-a-recorder'
const dir = mkdtempSync(join(tmpdir(), 'pmlogpush-'))
let server: WebServer
let url: string
beforeAll(async () => {
  writeFileSync(join(dir, 'tokens'), `${TOKEN}\n`, { mode: 0o600 })
  for (const [name, bytes] of Object.entries(sampleArchive(3))) writeFileSync(join(dir, name), bytes)
  const settings = new Map([
    ['pmlogger.directory', join(dir, 'pushed')],
    ['pmlogger.tokens', join(dir, 'tokens')],
  ])
  const push = pushConfig(settings, true, {}, (problem) => expect.fail(problem))
  server = await startWebServer(['pmcd'], { push })
  url = `http://127.0.0.1:${server.proxy.port}`
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true })
})

/** Returns the received files by suffix, of all archives. */
function received(): [string, Buffer][] {
  const root = join(dir, 'pushed')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('.push') && /\.(?:meta|index|\d+)$/.test(file))
    .map((file) => [file.slice(file.lastIndexOf('.') + 1), readFileSync(join(root, file))])
}

function expectSame(files: readonly [string, Buffer][]): void {
  for (const [suffix, bytes] of files)
    expect([suffix, Buffer.compare(bytes, readFileSync(join(dir, `a.${suffix}`)))]).toEqual([suffix, 0])
}

test('an archive arrives with the same bytes, and only once', async () => {
  const args = ['--credentials', join(dir, 'tokens'), join(dir, 'a'), url]
  expect(await runTool(pmlogpush, args)).toMatchObject({ status: 0, stderr: '' })
  const files = received()
  expect(files.length).toBe(Object.keys(sampleArchive(3)).length)
  expectSame(files)
  expect(await runTool(pmlogpush, args)).toMatchObject({ status: 0, stderr: '' })
  expect(received().length).toBe(files.length)
})

test('missing credentials are an error', async () => {
  const { status, stderr } = await runTool(pmlogpush, [join(dir, 'a'), url])
  expect([status, stderr]).toEqual([1, 'pmlogpush: authentication required\n'])
})

test('a spool is kept while the server is away, and empty when it has everything', async () => {
  const directory = join(dir, 'spool')
  mkdirSync(directory)
  for (const name of Object.keys(sampleArchive(3)))
    copyFileSync(join(dir, name), join(directory, name.replace(/^a/, 'b')))
  let now = Date.now()
  const logged: string[] = []
  const clock = { nowMs: () => now, sleep: () => Promise.resolve() }
  const options = {
    directory,
    maxBytes: 1e9,
    maxAgeMs: 7 * 86_400_000,
    clock,
    log: (_: string, text: string) => void logged.push(text),
  }
  const before = received().length
  const away = new PushClient(pushTarget('http://127.0.0.1:1'))
  const offline = await Spool.open({ ...options, requests: away })
  await expect(offline.flush()).rejects.toThrow('Connection refused')
  now += 86_400_000
  await offline.close()
  away.close()
  expect(logged).toEqual([expect.stringContaining('stay in')])
  const client = new PushClient(pushTarget(url, join(dir, 'tokens')))
  const online = await Spool.open({ ...options, requests: client })
  await online.flush()
  expect([online.count, readdirSync(directory)]).toEqual([0, ['lock']])
  await online.close()
  client.close()
  expect(received().length).toBe(2 * before)
  expectSame(received())
})
