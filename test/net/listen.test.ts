/** Listening in a thread, which cannot set a umask. See also test/e2e/net-listen.test.ts. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type Listeners, listen } from '../../src/net/listen.ts'

const listenOn = (socketPath: string): Promise<Listeners> =>
  listen({ ports: [], socketPath, onConnection: (socket) => socket.destroy() })

test('all users may connect to the unix socket of a thread', async () => {
  expect(isMainThread).toBe(false)
  const dir = mkdtempSync(join(tmpdir(), 'pcp-listen-'))
  const listeners = await listenOn(join(dir, 'socket'))
  expect(statSync(join(dir, 'socket')).mode & 0o777).toBe(0o666)
  await listeners.close()
  rmSync(dir, { recursive: true })
})

test('a unix socket whose mode cannot be set is reported, not thrown', async () => {
  // An abstract socket has no file whose mode could be set.
  const { endpoints } = await listenOn(`\0pcp-test-${process.pid}`)
  expect(endpoints[0]!.error?.message).toMatch(/Cannot listen/)
  expect(endpoints[0]!.fd).toBe(-1)
})
