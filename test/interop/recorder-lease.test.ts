/** Recorders that share hosts over a Redis server: compare-and-swap, passwords, a server that is killed and comes back empty. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { SYSTEM_CLOCK } from '../../src/pmapi/clock.ts'
import { KeyRegister } from '../../src/sharing/key-register.ts'
import { openShare, type Share } from '../../src/sharing/open-share.ts'

const hasServer = spawnSync('redis-server', ['--version']).status === 0
if (!hasServer) console.log('recorder-lease: not tested without redis-server')

let dir: string
let port: number
let server: ChildProcess
const ends: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'recorder-lease-'))
  port = await freePort()
  if (hasServer) server = await startServer()
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  rmSync(dir, { recursive: true })
})

async function startServer(): Promise<ChildProcess> {
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir]
  const child = spawn('redis-server', [...where, '--requirepass', 'secret'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  ends.push(() => kill(child))
  let text = ''
  await new Promise<void>((done, fail) => {
    child.once('exit', () => fail(new Error(`redis-server ended: ${text}`)))
    child.stdout!.on('data', (part) => {
      text += part
      if (text.includes('Ready to accept connections')) done()
    })
  })
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const ENV = { PMLOGGER_SHARE_PASSWORD: 'secret' }
const HOSTS = Array.from({ length: 20 }, (_, i) => `host${i}`)

test.skipIf(!hasServer)('one of several writers replaces a version', async () => {
  const place = `redis://127.0.0.1:${port}/one`
  const registers = [0, 1, 2].map(() => new KeyRegister(place, 60_000, ENV))
  ends.push(() => Promise.all(registers.map((register) => register.close())))
  expect(await registers[0]!.read()).toEqual({ version: 0, text: '' })
  const replaced = await Promise.all(registers.map((register, i) => register.replace(0, `text\n${i}`)))
  expect(replaced.filter((isReplaced) => isReplaced)).toHaveLength(1)
  const { version, text } = await registers[1]!.read()
  expect([version, text]).toEqual([1, `text\n${replaced.indexOf(true)}`])
  expect(await registers[2]!.replace(1, 'next')).toBe(true)
  expect(await registers[0]!.replace(1, 'late')).toBe(false)
  const wrong = new KeyRegister(place, 60_000, { PMLOGGER_SHARE_PASSWORD: 'wrong' })
  await expect(wrong.read()).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  await wrong.close()
})

/** Starts a recorder without recordings: it releases hosts immediately. */
function startShare(name: string): {
  readonly share: Share
  readonly until: (isTrue: () => boolean) => Promise<void>
} {
  const waiting = new Set<() => void>()
  const share: Share = openShare(
    { place: `redis://127.0.0.1:${port}/two`, name, leaseMs: 2000 },
    {
      env: ENV,
      clock: SYSTEM_CLOCK,
      changed: () => {
        if (share.isMember()) share.released(share.assignment)
        else share.cleared()
        for (const look of waiting) look()
      },
      say: () => {},
    },
  )
  const end = new AbortController()
  const running = share.run(end.signal)
  ends.push(async () => {
    end.abort()
    await running
    await share.close(1000)
  })
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise((done) => {
      const look = (): void => {
        if (!isTrue()) return
        waiting.delete(look)
        done()
      }
      waiting.add(look)
      look()
    })
  return { share, until }
}

test.skipIf(!hasServer)(
  'recorders divide the hosts, stop without the server, and begin again when it is back',
  async () => {
    const names = ['a', 'b', 'c']
    const shares = names.map(startShare)
    const owners = (host: string): number =>
      shares.filter(({ share }) => share.mayBegin() && share.owns(host)).length
    const areDivided = (): boolean => HOSTS.every((host) => owners(host) === 1)
    await Promise.all(shares.map(({ until }) => until(areDivided)))
    await kill(server)
    await Promise.all(shares.map(({ share, until }) => until(() => !share.isMember())))
    expect(HOSTS.every((host) => owners(host) === 0)).toBe(true)
    server = await startServer()
    await Promise.all(shares.map(({ until }) => until(areDivided)))
  },
)
