/** The directory as a register, and rendezvous hashing. */
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FileRegister } from '../../src/sharing/file-register.ts'
import { formatState, parseState } from '../../src/sharing/fleet-state.ts'
import { isKeyServer, KeyRegister } from '../../src/sharing/key-register.ts'
import { MOST_BYTES } from '../../src/sharing/register.ts'
import { ownerOf } from '../../src/sharing/rendezvous.ts'
import { fakeServer } from '../series/keys/fake-server.ts'

let dir: string
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'register-')), 'made')
})
afterEach(() => rmSync(join(dir, '..'), { recursive: true }))

test('a version is replaced by one writer', async () => {
  const register = new FileRegister(dir)
  expect(await register.read()).toEqual({ version: 0, text: '' })
  const first = await Promise.all(['a', 'b', 'c'].map((text) => new FileRegister(dir).replace(0, text)))
  expect(first.filter((isReplaced) => isReplaced)).toHaveLength(1)
  expect((await register.read()).version).toBe(1)
  expect(await register.replace(0, 'late')).toBe(false)
  for (let version = 1; version < 30; version++)
    expect(await register.replace(version, `v${version + 1}`)).toBe(true)
  expect(await register.read()).toEqual({ version: 30, text: 'v30' })
  // Few versions are kept, and no temporary files.
  expect(readdirSync(dir).filter((name) => !/^state\.\d+$/.test(name))).toEqual([])
  expect(readdirSync(dir).length).toBeLessThanOrEqual(9)
})

test('a writer with an old listing does not bring a removed version back', async () => {
  const register = new FileRegister(dir)
  for (let version = 0; version < 20; version++) await register.replace(version, 'x')
  expect(existsSync(join(dir, 'state.3'))).toBe(false)
  expect(await register.replace(2, 'old')).toBe(false)
  expect(existsSync(join(dir, 'state.3'))).toBe(false)
  expect((await register.read()).version).toBe(20)
})

test('many writers lose no replacement', async () => {
  const add = async (): Promise<void> => {
    const register = new FileRegister(dir)
    for (;;) {
      const { version, text } = await register.read()
      if (await register.replace(version, String(Number(text) + 1))) return
    }
  }
  await Promise.all(Array.from({ length: 25 }, add))
  expect((await new FileRegister(dir).read()).text).toBe('25')
})

test('files that killed recorders left are removed, large ones and other directories refused', async () => {
  const register = new FileRegister(dir)
  await register.replace(0, 'x')
  for (let i = 0; i < 20; i++) {
    writeFileSync(join(dir, `new.${i}`), '')
    utimesSync(join(dir, `new.${i}`), 1, 1)
  }
  await register.read()
  expect(readdirSync(dir)).toEqual(['state.1'])
  writeFileSync(join(dir, 'state.2'), 'x'.repeat(70_000))
  await expect(register.read()).rejects.toMatchObject({ code: 'EFBIG' })
  writeFileSync(join(dir, '..', 'file'), '')
  await expect(new FileRegister(join(dir, '..', 'file')).read()).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test.each([
  ['', 'not JSON'],
  ['{"format": 2}', 'format 2, expected 1'],
  ['{"format": 1, "epoch": -1, "unsettled": "", "members": []}', 'invalid epoch'],
  ['{"format": 1, "epoch": 1, "unsettled": "", "members": [{}]}', 'invalid list of recorders'],
  ['x'.repeat(70_000), 'too long'],
])('an invalid state is refused: %#', (text, message) => {
  expect(() => parseState(text, 'place')).toThrow(`place: not the state of recorders: ${message}`)
})

test('the largest state fits into a register', () => {
  const members = Array.from({ length: 64 }, (_, i) => ({
    ...{ name: `${i}`.padEnd(128, 'x'), id: `${i}`.padEnd(16, 'x'), seq: 2 ** 50, ack: 2 ** 50 },
    ...{ ttlMs: 600_000, process: 'p'.repeat(400) },
  }))
  const state = { epoch: 2 ** 50, unsettled: '', members }
  expect(parseState(formatState(state), 'place')).toEqual(state)
})

test('hosts are divided evenly, and a recorder that leaves moves only its own', () => {
  const names = Array.from({ length: 5 }, (_, i) => `recorder${i}.example.com`)
  const hosts = Array.from({ length: 2000 }, (_, i) => `host${i}.example.com`)
  const owners = hosts.map((host) => ownerOf(host, names)!)
  for (const name of names) {
    const count = owners.filter((owner) => owner === name).length
    expect(count).toBeGreaterThan(300)
    expect(count).toBeLessThan(500)
  }
  const left = names.slice(1)
  hosts.forEach((host, i) => {
    const owner = ownerOf(host, [...left].reverse())
    if (owners[i] === names[0]) expect(left).toContain(owner)
    else expect(owner).toBe(owners[i])
  })
  expect(ownerOf('host', [])).toBeUndefined()
})

test('a key server is named by a URL without a password', () => {
  expect(['redis://a', 'valkeys://a:1,b/x', '/dir', 'http://a'].map(isKeyServer)).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(new KeyRegister('redis://me@a,b:1/x', 1000, {}).place).toBe('redis://a:6379,b:1/x')
  expect(() => new KeyRegister('redis://me:secret@a', 1000, {})).toThrow('use PMLOGGER_SHARE_PASSWORD')
  expect(() => new KeyRegister('redis://a:99999', 1000, {})).toThrow('invalid key server')
})

test('a text of the largest size is read whole from a key server, and a larger one refused', async () => {
  let value = `12\n${'x'.repeat(MOST_BYTES)}`
  const server = await fakeServer(([name]) =>
    name === 'GET' ? `$${value.length}\r\n${value}\r\n` : ':1\r\n',
  )
  const register = new KeyRegister(`redis://127.0.0.1:${server.port}`, 60_000, {})
  try {
    expect(await register.read()).toEqual({ version: 12, text: value.slice(3) })
    value += 'x'
    await expect(register.read()).rejects.toMatchObject({ code: 'EFBIG' })
    const large = 'é'.repeat(MOST_BYTES / 2 + 1)
    for (const each of [register, new FileRegister(dir)]) {
      expect(await each.replace(0, 'x')).toBe(true)
      await expect(each.replace(1, large)).rejects.toMatchObject({ code: 'EFBIG' })
    }
  } finally {
    await register.close()
    await server.close()
  }
})
