/** Listings that are kept while a directory is unchanged. */
import { mkdirSync, mkdtempSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeptListings } from '../../src/sys/kept-listings.ts'
import { stagingName } from '../../src/sys/staging.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kept-listings-'))
  for (let i = 0; i < 100; i++) writeFileSync(join(dir, `host.${i}`), '')
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Returns listings at a time after the last change of the directory. */
const after = (ms: number): KeptListings => new KeptListings(() => statSync(dir).ctimeMs + ms)

test('an unchanged directory is listed once', () => {
  const listings = after(3001)
  const first = listings.view(dir)
  expect(first.names).toHaveLength(100)
  expect(listings.view(dir)).toBe(first)
})

test('a changed directory is listed again', () => {
  const listings = after(3001)
  listings.view(dir)
  unlinkSync(join(dir, 'host.0'))
  writeFileSync(join(dir, 'other.0'), '')
  const { names } = listings.view(dir)
  expect(names).toContain('other.0')
  expect(names).not.toContain('host.0')
})

test('a directory that changed just now is listed again, because its time may not show the next change', () => {
  const listings = after(2999)
  expect(listings.view(dir)).not.toBe(listings.view(dir))
})

test('a directory with a transaction is listed again', () => {
  mkdirSync(join(dir, stagingName()))
  const listings = after(3001)
  expect(listings.view(dir)).not.toBe(listings.view(dir))
})

test('listings beyond the limit are not kept', () => {
  const other = join(dir, 'other')
  mkdirSync(other)
  for (let i = 0; i < 100; i++) writeFileSync(join(other, `host.${i}`), '')
  const listings = new KeptListings(() => statSync(other).ctimeMs + 3001, 150)
  expect(listings.view(dir)).toBe(listings.view(dir))
  expect(listings.view(other)).not.toBe(listings.view(other))
})

test('a removed directory makes room', () => {
  const other = join(dir, 'other')
  mkdirSync(other)
  for (let i = 0; i < 100; i++) writeFileSync(join(other, `host.${i}`), '')
  const nowMs = statSync(other).ctimeMs + 60_000
  const listings = new KeptListings(() => nowMs, 150)
  expect(listings.view(other)).toBe(listings.view(other))
  rmSync(other, { recursive: true })
  expect(() => listings.view(other)).toThrow('ENOENT')
  expect(listings.view(dir)).toBe(listings.view(dir))
})

test('a missing directory is an error', () => {
  expect(() => after(3001).view(join(dir, 'missing'))).toThrow('ENOENT')
})
