/** Data volumes that cannot be opened. */
import { expect, test } from 'vitest'
import { Volume } from '../../src/archive/volume.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'

const files = (open: ArchiveFiles['open']): ArchiveFiles => ({
  isDirectory: () => false,
  list: () => [],
  open,
})

test('errors of the system are thrown, and not cached: skipping the volume would make a false gap', () => {
  let code = 'EMFILE'
  const volume = new Volume(
    files(() => {
      throw Object.assign(new Error('open'), { code })
    }),
    1,
    'a.1',
    false,
  )
  expect(() => volume.tryOpen()).toThrow(expect.objectContaining({ code: 'EMFILE' }))
  code = 'EIO'
  expect(() => volume.tryOpen()).toThrow(expect.objectContaining({ code: 'EIO' }))
  expect(volume.problem).toBeUndefined()
})

test('a damaged volume is skipped, and its damage is available', () => {
  const volume = new Volume(
    files(() => bytesSource(new Uint8Array(200))),
    1,
    'a.1',
    false,
  )
  expect(volume.tryOpen()).toBeUndefined()
  expect(volume.problem?.code).toMatch(/^PM_ERR_/)
})
