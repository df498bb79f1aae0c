import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { archiveOutput, temporaryOutput } from '../../src/sys/archive-output.ts'

let dir: string
let base: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'output-'))
  base = join(dir, 'a')
})
afterEach(() => rmSync(dir, { recursive: true }))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('what is written is in the file at once, unless it is collected', () => {
  const direct = archiveOutput(base).create('0')
  direct.write(bytes('one'))
  direct.write(bytes('two'))
  expect([readFileSync(`${base}.0`, 'utf8'), direct.size]).toEqual(['onetwo', 6])
  const collected = archiveOutput(base, { collect: 4 }).create('1')
  collected.write(bytes('one'))
  expect([statSync(`${base}.1`).size, collected.size]).toEqual([0, 3])
  collected.write(bytes('two'))
  collected.write(bytes('a long one'))
  expect(readFileSync(`${base}.1`, 'utf8')).toBe('onetwoa long one')
  collected.write(bytes('x'))
  collected.flush()
  expect(statSync(`${base}.1`).size).toBe(17)
  for (const sink of [direct, collected]) sink.close()
})

test('a file that is there is never opened', () => {
  writeFileSync(`${base}.meta`, 'mine')
  expect(() => archiveOutput(base).create('meta')).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(readFileSync(`${base}.meta`, 'utf8')).toBe('mine')
})

test('a temporary archive has its names when it is complete', () => {
  const output = temporaryOutput(base)
  for (const part of ['index', 'meta', '0']) {
    const sink = output.create(part)
    sink.write(bytes(part))
    sink.close()
  }
  expect(['index', 'meta', '0'].some((part) => existsSync(`${base}.${part}`))).toBe(false)
  output.commit()
  output.abandon()
  expect(readdirSync(dir).sort()).toEqual(['a.0', 'a.index', 'a.meta'])
  expect(readFileSync(`${base}.meta`, 'utf8')).toBe('meta')
})

test('a temporary archive whose name was taken meanwhile leaves nothing behind', () => {
  const output = temporaryOutput(base)
  for (const part of ['index', 'meta', '0']) output.create(part).close()
  writeFileSync(`${base}.meta`, 'mine')
  expect(() => output.commit()).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(readdirSync(dir)).toEqual(['a.meta'])
})

test('a temporary archive that is abandoned leaves nothing behind', () => {
  const output = temporaryOutput(base)
  for (const part of ['index', 'meta', '0', '1']) output.create(part).close()
  output.abandon()
  expect(readdirSync(dir)).toEqual([])
})

test('what goes wrong is said of the name that was asked for', () => {
  const output = temporaryOutput(join(dir, 'none', 'a'))
  expect(() => output.create('meta')).toThrow(`'${join(dir, 'none', 'a.meta')}'`)
})
