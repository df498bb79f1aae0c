/** Locks made of files. */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holderOf, lockByName, lockPlainly } from '../../src/sys/file-lock.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-lock-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

describe.each([
  ['lockPlainly', lockPlainly],
  ['lockByName', lockByName],
])('%s', (name, lock) => {
  const once = { limitMs: 0 }

  test('is held by one at a time', async () => {
    const path = join(dir, name)
    const first = await lock(path, once)
    expect(await lock(path, once)).toBeUndefined()
    first!.release()
    const second = await lock(path, once)
    first!.release() // no longer its to give back
    expect(lstatSync(path)).toBeDefined()
    second!.release()
    expect(existsSync(path)).toBe(false)
  })

  test('is had by who waits', async () => {
    const path = join(dir, name)
    const first = await lock(path, once)
    const waiting = lock(path, { limitMs: 10_000 })
    first!.release()
    const second = await waiting
    expect(second).toBeDefined()
    second!.release()
  })

  test('is not waited for after an abort', async () => {
    const path = join(dir, name)
    const first = await lock(path, once)
    expect(await lock(path, { limitMs: 10_000, signal: AbortSignal.abort() })).toBeUndefined()
    first!.release()
  })

  test('cannot be had where nothing can be made', async () => {
    await expect(lock(join(dir, 'no', 'such'), { limitMs: 10_000 })).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

test('a lock whose holder died is taken over', async () => {
  const path = join(dir, 'stale')
  const { pid } = spawnSync('true')
  symlinkSync(`${hostname()}:${pid}`, path)
  const lock = await lockByName(path, { limitMs: 0 }) // that takes no time
  expect(holderOf(path)).toBe(`${hostname()}:${process.pid}`)
  lock!.release()
})

test('a lock of another host is left alone', async () => {
  const path = join(dir, 'elsewhere')
  symlinkSync('elsewhere.example:1', path)
  expect(await lockByName(path, { limitMs: 30 })).toBeUndefined()
  expect(holderOf(path)).toBe('elsewhere.example:1')
})
