import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ParsedFile } from '../../src/sys/parsed-file.ts'
import { ProcFile } from '../../src/sys/proc.ts'

test('what a file says is worked out again when it changes, and only then', () => {
  const root = mkdtempSync(join(tmpdir(), 'parsed-'))
  const file = new ProcFile(root, '/x')
  const parsed = new ParsedFile(file, (text) => {
    if (text === 'bad') throw new Error('bad')
    return { text }
  })
  const write = (text: string): void => writeFileSync(join(root, 'x'), text)
  expect(() => parsed.read()).toThrow('ENOENT')
  write('one')
  const first = parsed.read()
  expect([first.text, parsed.read() === first]).toEqual(['one', true])
  write('two')
  expect(parsed.read().text).toBe('two')
  write('bad')
  expect(() => parsed.read()).toThrow('bad')
  expect(() => parsed.read()).toThrow('bad')
  write('two, again')
  expect(parsed.read().text).toBe('two, again')
  file.close()
  rmSync(root, { recursive: true })
})
