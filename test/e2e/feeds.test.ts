/** Child processes and sockets as data sources of an agent, with real ones. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { ChildFeed, runProgram } from '../../src/pmda/feeds/child.ts'
import { queryService, SocketFeed } from '../../src/pmda/feeds/socket.ts'
import { eventually } from '../lib/eventually.ts'

const top = mkdtempSync(join(tmpdir(), 'feeds-'))
afterAll(() => rmSync(top, { recursive: true }))

const shell = (script: string): { command: string; args: string[] } => ({
  command: 'sh',
  args: ['-c', script],
})
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

test("a child's output is read line by line, and the child restarted when it ends", async () => {
  const lines: string[] = []
  const said: string[] = []
  const feed = new ChildFeed({
    ...shell('echo one; echo two; echo oh >&2; exit 3'),
    onLine: (line) => lines.push(line),
    log: (level, text) => said.push(`${level}: ${text}`),
  })
  closers.push(() => feed.close())
  expect(feed.error?.code).toBe('PM_ERR_AGAIN')
  feed.start()
  feed.start()
  expect(feed.starts).toBe(1)
  await eventually(() => expect(lines.length).toBeGreaterThanOrEqual(4))
  await eventually(() =>
    expect(feed.error).toMatchObject({ code: 'ECHILD', message: 'sh ended with status 3' }),
  )
  expect(lines.slice(0, 4)).toEqual(['one', 'two', 'one', 'two'])
  expect(said.slice(0, 2)).toEqual(['warning: sh: oh', 'info: sh ended with status 3'])
  await feed.close()
  const { starts } = feed
  expect(starts).toBeGreaterThanOrEqual(2)
  feed.start()
  expect(feed.starts).toBe(starts)
})

test('a running child has no error, and ends when the feed is closed', async () => {
  let line = ''
  const feed = new ChildFeed({
    ...shell('trap "" TERM; echo $$; while :; do sleep 1; done'),
    onLine: (text) => {
      line = text
    },
    log: () => {},
  })
  feed.start()
  await eventually(() => expect(line).not.toBe(''))
  expect(feed.error).toBeUndefined()
  await feed.close() // by force: it ignores SIGTERM
  expect(() => process.kill(Number(line), 0)).toThrow('ESRCH')
})

test('a missing program is reported', async () => {
  const feed = new ChildFeed({ command: join(top, 'none'), onLine: () => {}, log: () => {} })
  closers.push(() => feed.close())
  feed.start()
  await eventually(() => expect(feed.error?.code).toBe('ENOENT'))
  await expect(runProgram({ command: join(top, 'none') })).rejects.toMatchObject({ code: 'ENOENT' })
})

test('the output of a program is returned', async () => {
  expect(
    await runProgram({ ...shell('echo "$X"; pwd'), cwd: top, env: { PATH: process.env['PATH'], X: 'x' } }),
  ).toBe(`x\n${top}\n`)
  await expect(runProgram(shell('echo why >&2; exit 2'))).rejects.toMatchObject({
    code: 'ECHILD',
    message: 'sh ended with status 2: why',
  })
  await expect(runProgram(shell('cat /dev/zero'), { maxBytes: 1000 })).rejects.toMatchObject({
    code: 'EFBIG',
  })
  await expect(runProgram(shell('exec sleep 60'), { signal: AbortSignal.timeout(50) })).rejects.toMatchObject(
    { code: 'EINTR' },
  )
  await expect(runProgram(shell('true'), { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'EINTR',
  })
})

/** A service on a unix socket. */
async function serve(onConnection: (socket: Socket) => void, path = join(top, 'socket')): Promise<Server> {
  const server = createServer(onConnection)
  await new Promise<void>((resolve) => server.listen(path, resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return server
}

test("a service's output is read, and reconnected after an absence", async () => {
  const path = join(top, 'socket')
  const lines: string[] = []
  const feed = new SocketFeed({
    address: { path },
    onLine: (line) => lines.push(line),
    onConnect: (send) => send('hello\n'),
  })
  closers.push(() => feed.close())
  feed.start()
  await eventually(() => expect(feed.error?.code).toBe('ENOENT'))
  await serve((socket) => {
    socket.on('error', () => {})
    socket.once('data', (text) => socket.end(`got ${text}last`))
  })
  await eventually(() => expect(feed.connections).toBeGreaterThan(1))
  expect(lines.slice(0, 2)).toEqual(['got hello', 'last'])
  feed.close()
  await eventually(() => expect(feed.error).toBeDefined())
})

test('a service answers requests', async () => {
  const path = join(top, 'asked')
  await serve((socket) => {
    socket.on('error', () => {})
    socket.on('data', (text) => {
      const [what] = String(text).split('\n')
      if (what === 'close') socket.end('answer')
      else if (what === 'long') socket.write('x'.repeat(2000))
      else if (what === 'half') socket.end('half an answer')
      else socket.write(`${what}\nEND\n`)
    })
  }, path)
  const isComplete = (text: string): boolean => text.endsWith('END\n')
  expect(await queryService({ path }, 'close\n')).toBe('answer')
  expect(await queryService({ path }, 'stats\n', { isComplete })).toBe('stats\nEND\n')
  await expect(queryService({ path }, 'half\n', { isComplete })).rejects.toMatchObject({ code: 'ECONNRESET' })
  await expect(queryService({ path }, 'long\n', { maxBytes: 1000 })).rejects.toMatchObject({ code: 'EFBIG' })
  await expect(queryService({ path }, 'stats\n', { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
    code: 'EINTR',
  })
  await expect(queryService({ path: join(top, 'none') }, '')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('TCP as well', async () => {
  const server = createServer((socket) => socket.end('tcp'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  expect(await queryService({ port }, '')).toBe('tcp')
  await new Promise((resolve) => server.close(resolve))
})
