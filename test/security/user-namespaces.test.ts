/** In a user namespace without a mapping for root, files of root seem to belong to nobody. */
import type * as fs from 'node:fs'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isTrustedPath, readTrustedFile, trustedPath } from '../../src/sys/trusted-path.ts'

const NOBODY = 65_534
/** Paths owned by an unmapped user. */
const { foreign } = vi.hoisted(() => ({ foreign: new Set<string>() }))
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const lstatSync = (path: string, options: object): unknown => {
    const stats = real.lstatSync(path, options)
    return stats !== undefined && foreign.has(path) ? Object.assign(stats, { uid: 65_534 }) : stats
  }
  return { ...real, lstatSync }
})

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-root-'))
  mkdirSync(join(dir, 'home/own'), { recursive: true, mode: 0o755 })
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, 'home/own/file'), 'text', { mode: 0o644 })
})
afterEach(() => {
  foreign.clear()
  rmSync(dir, { recursive: true })
})

test('an unmapped owner counts as root if it owns / too', () => {
  foreign.add(join(dir, 'home'))
  expect(() => trustedPath(join(dir, 'home/own/file'))).toThrow(`(${NOBODY})`)
  foreign.add('/')
  expect(readTrustedFile(join(dir, 'home/own/file'), '')).toBe('text')
})

test('unmapped owners are not trusted in world-writable directories', () => {
  foreign.add('/').add(join(dir, 'home/own')).add(join(dir, 'link'))
  symlinkSync(join(dir, 'home'), join(dir, 'link'))
  expect(isTrustedPath(join(dir, 'home/own/file'))).toBe(true)
  expect(isTrustedPath(join(dir, 'link'))).toBe(true)
  chmodSync(join(dir, 'home'), 0o1777)
  expect(() => trustedPath(join(dir, 'home/own/file'))).toThrow(/own on the way to .* belongs to user nobody/)
  chmodSync(dir, 0o1777)
  expect(() => trustedPath(join(dir, 'link'))).toThrow(/is a link of user nobody/)
})
