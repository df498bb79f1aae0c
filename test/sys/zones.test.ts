/** Zone files from a directory, and the time zone of the process from its environment. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { processZone, readZoneFile } from '../../src/sys/zones.ts'

const dir = mkdtempSync(join(tmpdir(), 'zones-'))
mkdirSync(join(dir, 'Area'))
writeFileSync(join(dir, 'Area/City'), 'city')
const env = { TZDIR: dir }
afterAll(() => rmSync(dir, { recursive: true }))

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && String.fromCharCode(...bytes)

test('reads zone files by name only', () => {
  expect(text(readZoneFile('Area/City', env))).toBe('city')
  for (const name of ['', 'Area', 'Area/Nowhere', '../zones', 'Area/../Area/City', join(dir, 'Area/City')])
    expect(readZoneFile(name, env), name).toBeUndefined()
})

test('takes the zone of the process from TZ', () => {
  expect(processZone({ ...env, TZ: 'AAA-3' })).toEqual({ name: 'AAA-3', bytes: undefined })
  expect(processZone({ ...env, TZ: ':Area/City' }).name).toBe(':Area/City')
  expect(text(processZone({ ...env, TZ: ':Area/City' }).bytes)).toBe('city')
  expect(text(processZone({ ...env, TZ: join(dir, 'Area/City') }).bytes)).toBe('city')
})

test('has a name for the zone without TZ', () => {
  expect(processZone(env).name).not.toBe('')
})
