/** Every native call twice: with koffi, which the development install has, and with its fallback. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openAccounts } from '../../../src/sys/native/accounts.ts'
import { tryLock } from '../../../src/sys/native/advisory-lock.ts'
import { loadNative, nativeProblem } from '../../../src/sys/native/calls.ts'
import { peerCredentials } from '../../../src/sys/native/peer-credentials.ts'
import { shareBytes } from '../../../src/sys/native/shared-bytes.ts'
import { formatIdentity, ownIdentity } from '../../../src/sys/process-identity.ts'

const missing = (): undefined => undefined
const WAYS = [
  ['koffi', loadNative],
  ['the fallback', missing],
] as const

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-native-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('koffi is there for development, so both ways are tested', () => {
  expect(nativeProblem()).toBeUndefined()
})

/** The server's end of a connection over this address. */
async function accepted(where: { path: string } | { port: number; host: string }): Promise<Socket> {
  const server = createServer()
  server.listen(where)
  await once(server, 'listening')
  const address = server.address()
  const client = connect(typeof address === 'string' ? { path: address } : { port: address!.port })
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.on('close', () => server.close())
  socket.on('end', () => client.destroy())
  return socket
}

describe('peer credentials', () => {
  test('koffi identifies the peer of a unix socket', async () => {
    const socket = await accepted({ path: join(dir, 'peer.socket') })
    const { pid, ppid } = process
    const peer = peerCredentials().of(socket)
    expect(peer).toEqual({ uid: process.getuid!(), gid: process.getgid!(), pid: expect.any(Number) })
    expect([pid, ppid]).toContain(peer!.pid)
    expect(peerCredentials().problem()).toBeUndefined()
    socket.destroy()
    expect(peerCredentials().of(socket)).toBeUndefined()
  })

  test('TCP peers are unknown', async () => {
    const socket = await accepted({ port: 0, host: '127.0.0.1' })
    expect(peerCredentials().of(socket)).toBeUndefined()
    socket.destroy()
  })

  test('without koffi peers are unknown, with the reason', async () => {
    const socket = await accepted({ path: join(dir, 'nobody.socket') })
    const peers = peerCredentials(missing)
    expect(peers.of(socket)).toBeUndefined()
    expect(peers.problem()).toBeTypeOf('string')
    socket.destroy()
  })
})

describe('accounts', () => {
  test.each(WAYS)('%s finds users and groups', (_, load) => {
    const accounts = openAccounts(load)
    expect(accounts.userId('root')).toBe(0)
    expect(accounts.groupId('root')).toBe(0)
    expect(accounts.userId('no such user')).toBeUndefined()
    expect(accounts.firstGroupOf('root')).toBe(0)
    expect(accounts.firstGroupOf('no such user')).toBeUndefined()
    expect(accounts.groupId('no such group')).toBeUndefined()
    expect(accounts.membersOf('no such group')).toEqual([])
  })

  test('both find the same members of every group', () => {
    const ours = openAccounts(missing)
    const theirs = openAccounts(loadNative)
    const groups = readFileSync('/etc/group', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[0]!)
      .filter((name) => name !== '')
    const members = (accounts: typeof ours): unknown => groups.map((name) => [name, accounts.membersOf(name)])
    expect(members(ours)).toEqual(members(theirs))
  })

  test('the fallback reads existing members and skips damaged lines', () => {
    const files = { passwd: join(dir, 'passwd'), group: join(dir, 'group') }
    writeFileSync(files.passwd, 'ann:x:1001:1001::/home/ann:/bin/sh\nbob:x:1002:1001::/:\nbad:x:::\n')
    writeFileSync(files.group, 'crew:x:50:ann,gone,bob\nnone:x:51:\n')
    const accounts = openAccounts(missing, files)
    expect(accounts.membersOf('crew')).toEqual([1001, 1002])
    expect(accounts.membersOf('none')).toEqual([])
    expect(accounts.userId('bad')).toBeUndefined()
    expect(accounts.userId('')).toBeUndefined()
  })
})

describe('advisory locks', () => {
  test.each(WAYS)('%s has one holder at a time', async (way, load) => {
    const path = join(dir, `lock of ${way}`)
    const first = await tryLock(path, load)
    expect(first).toBeDefined()
    expect(await tryLock(path, load)).toBeUndefined()
    first!.release()
    first!.release()
    const second = await tryLock(path, load)
    expect(second).toBeDefined()
    second!.release()
  })

  test('the fallback takes over from a holder that died', async () => {
    const path = join(dir, 'orphan')
    const { pid } = spawnSync(process.execPath, ['--version'])
    writeFileSync(`${path}.lock`, `${formatIdentity({ ...ownIdentity(), pid })} aaaaaaaaaaaa\n`)
    const lock = await tryLock(path, missing)
    expect(lock).toBeDefined()
    lock!.release()
  })
})

describe('shared bytes', () => {
  test.each(WAYS)('%s sees changes by others, and shows its own', (way, load) => {
    const path = join(dir, `bytes of ${way}`)
    writeFileSync(path, 'abcdef')
    const shared = shareBytes(path, load)
    expect(Buffer.from(shared.bytes).toString()).toBe('abcdef')
    writeFileSync(path, 'X', { flag: 'r+' })
    shared.refresh()
    expect(Buffer.from(shared.bytes).toString()).toBe('Xbcdef')
    shared.bytes[5] = 0x5a
    shared.flush()
    expect(readFileSync(path, 'utf8')).toBe('XbcdeZ')
    shared.close()
    shared.close()
    shared.bytes[0] = 0 // harmless: the array may still be used
    expect(readFileSync(path, 'utf8')).toBe('XbcdeZ')
  })

  test.each(WAYS)('%s rejects a missing and an empty file', (way, load) => {
    expect(() => shareBytes(join(dir, 'absent'), load)).toThrow(/ENOENT/)
    const path = join(dir, `empty of ${way}`)
    appendFileSync(path, '')
    expect(() => shareBytes(path, load)).toThrow(/empty/)
  })
})
