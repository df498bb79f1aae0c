import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { archiveOutput } from '../../src/sys/archive-output.ts'

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
