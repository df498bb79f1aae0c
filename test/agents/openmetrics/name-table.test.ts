import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NameTable } from '../../../src/agents/openmetrics/name-table.ts'
import { pickleNames, unpickleNames } from '../../../src/agents/openmetrics/pickle.ts'

const vector = (name: string): string =>
  readFileSync(new URL(`../../vectors/agents/openmetrics/${name}`, import.meta.url), 'latin1')

let dir: string
const log: string[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'names-'))
  log.length = 0
})
afterEach(() => rmSync(dir, { recursive: true }))

const table = (max = 100): NameTable =>
  new NameTable(join(dir, 'sub', '144.1.py'), max, (text) => log.push(text))

test("lists that PCP's agent wrote are read, and written as it does", () => {
  const odd = vector('144.20480.py')
  const list = unpickleNames(odd)
  expect(list?.hasPrefix).toBe(true)
  expect(list?.names.slice(0, 6)).toEqual(
    ['', ' ', "'", '"', '"\'', '\\'].map((value) => `instance:${value}`),
  )
  expect(pickleNames(list!)).toBe(odd)
  const sources = vector('144.0.py')
  expect(unpickleNames(sources)).toMatchObject({
    hasPrefix: false,
    names: expect.arrayContaining(['control']),
  })
  expect(pickleNames(unpickleNames(sources)!)).toBe(sources)
})

test('any list comes back, and any text is read without an exception', () => {
  const names = fc.array(fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(names, fc.boolean(), (list, hasPrefix) => {
      expect(unpickleNames(pickleNames({ names: list, hasPrefix }))).toEqual({ names: list, hasPrefix })
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void unpickleNames(`(lp0\n${text}`)))
})

test('names keep their numbers from one life of the agent to the next', () => {
  const first = table()
  expect([first.numberOf('a'), first.numberOf('b'), first.numberOf('a')]).toEqual([0, 1, 0])
  first.usePrefix()
  first.save()
  const second = table()
  expect([second.numberOf('c'), second.numberOf('b')]).toEqual([2, 1])
  expect(second.list()).toEqual({ ids: [0, 1, 2], names: ['0 a', '1 b', '2 c'] })
  expect(second.nameOf(1)).toBe('b')
  expect(log).toEqual([])
})

test('no numbers are assigned above the limit', () => {
  const small = table(1)
  small.numberOf('a')
  small.numberOf('b')
  expect(() => small.numberOf('c')).toThrow('No number is left for "c"')
  expect(small.numberOf('b')).toBe(1)
})

test('a file of another format is reported and ignored', () => {
  const first = table()
  first.numberOf('a')
  first.save()
  writeFileSync(join(dir, 'sub', '144.1.py'), 'import os')
  expect(table().numberOf('z')).toBe(0)
  expect(log).toEqual([expect.stringContaining('144.1.py is invalid')])
})
