/** Archives that get their names once they are complete. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stagedOutput } from '../../src/archive-store/staged-output.ts'

let dir: string
let base: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'staged-output-'))
  base = join(dir, 'a')
})
afterEach(() => rmSync(dir, { recursive: true }))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('an archive has its names when it is complete', async () => {
  const output = stagedOutput(base)
  for (const part of ['index', 'meta', '0']) {
    const sink = output.create(part)
    sink.write(bytes(part))
    sink.close()
  }
  expect(['index', 'meta', '0'].some((part) => existsSync(`${base}.${part}`))).toBe(false)
  await output.commit()
  output.abandon()
  expect(readdirSync(dir).sort()).toEqual(['a.0', 'a.index', 'a.meta'])
  expect(readFileSync(`${base}.meta`, 'utf8')).toBe('meta')
})

test('an archive whose name was taken meanwhile leaves nothing behind', async () => {
  const output = stagedOutput(base)
  for (const part of ['index', 'meta', '0']) output.create(part).close()
  writeFileSync(`${base}.meta`, 'mine')
  await expect(output.commit()).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readdirSync(dir)).toEqual(['a.meta'])
  expect(readFileSync(`${base}.meta`, 'utf8')).toBe('mine')
})

test('an abandoned archive leaves nothing behind', () => {
  const output = stagedOutput(base)
  for (const part of ['index', 'meta', '0', '1']) output.create(part).close()
  output.abandon()
  expect(readdirSync(dir)).toEqual([])
})

test('an error has the final name of the file', () => {
  const output = stagedOutput(join(dir, 'none', 'a'))
  expect(() => output.create('meta')).toThrow(`'${join(dir, 'none')}`)
})
