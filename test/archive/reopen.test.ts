/** Archives whose files were closed to save descriptors. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { writeHost } from '../series/lib.ts'

test('a closed archive opens its files again when it is read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reopen-'))
  try {
    const archive = Archive.open(writeHost(directory, 'db1'), archiveFiles())
    const count = (): number => {
      const reader = new RecordReader(archive)
      let records = 0
      while (reader.next() !== undefined) records++
      return records
    }
    expect(count()).toBe(6)
    archive.close()
    expect(count()).toBe(6)
    archive.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
