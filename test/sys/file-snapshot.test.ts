/** Readers of files that are replaced meanwhile. */
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ArchiveFiles, readBytes } from '../../src/base/byte-source.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'file-snapshot-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const path = (name: string): string => join(dir, name)
function replace(name: string, text: string): void {
  writeFileSync(path('new'), text)
  renameSync(path('new'), path(name))
}
function textOf(files: ArchiveFiles, name: string): string {
  const source = files.open(path(name))
  return new TextDecoder().decode(readBytes(source, 0, source.size))
}

test('files that are replaced while they are opened are opened again', () => {
  replace('a.0', 'old a')
  replace('b.0', 'old b')
  let runs = 0
  const texts = archiveFiles().consistent!((files) => {
    const first = textOf(files, 'a.0')
    if (++runs === 1) {
      replace('a.0', 'new a')
      replace('b.0', 'new b')
    }
    return [first, textOf(files, 'b.0')]
  })
  expect({ runs, texts }).toEqual({ runs: 2, texts: ['new a', 'new b'] })
})

test('a failure due to removed files is retried, any other is not', () => {
  replace('a.0', 'input')
  let runs = 0
  const text = archiveFiles().consistent!((files) => {
    const names = files.list(dir)
    if (++runs === 1) {
      unlinkSync(path('a.0'))
      replace('b.0', 'output')
    }
    return names.map((name) => textOf(files, name))
  })
  expect(text).toEqual(['output'])
  const action = (files: ArchiveFiles): string => {
    runs++
    return textOf(files, 'missing.0')
  }
  runs = 0
  expect(() => archiveFiles().consistent!(action)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  expect(runs).toBe(1)
})

test('a directory that changes all the time can still be read', () => {
  let count = 0
  const names = archiveFiles().consistent!((files) => {
    const listed = files.list(dir)
    replace(`a.${count++}`, '')
    return listed
  })
  expect(names.length).toBeGreaterThan(0)
})

test.each([
  ['replaced', (): void => replace('a.1', 'other')],
  ['removed', (): void => unlinkSync(path('a.1'))],
])('a pinned file that was %s is not opened', (_, change) => {
  replace('a.1', 'mine')
  const files = archiveFiles().consistent!((each) => {
    each.pin!(path('a.1'))
    return each
  })
  expect(textOf(files, 'a.1')).toBe('mine')
  change()
  expect(() => files.open(path('a.1'))).toThrow(
    expect.objectContaining({ code: 'ESTALE', message: expect.stringContaining('open the archive again') }),
  )
})
