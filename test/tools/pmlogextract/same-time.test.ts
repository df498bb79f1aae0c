/** Merges of archives that have different instances of a domain at one time. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmlogextract/index.ts'
import {
  CHANGING,
  CHANGING_START,
  changingNames,
  type State,
  writeChanging,
} from '../../archive/changing-instances.ts'
import { misplacedRecords, stampedRecords } from '../../archive/stamped-records.ts'
import { testIo } from '../run-tool.ts'

const dir = mkdtempSync(join(tmpdir(), 'merge-'))
afterAll(() => rmSync(dir, { recursive: true }))

test.each([2, 3] as const)('of version %i name the instances of all inputs', async (version) => {
  const inputs = [
    [
      [0, [1, 2, 3]],
      [5, [1, 2, 3, 4]],
      [10, [1, 2, 3, 4, 6]],
    ],
    [
      [0, [1, 2, 3]],
      [5, [1, 2, 3, 5]],
      [12, [1, 2, 3, 7]],
    ],
    [[5, [1, 2, 3, 8]]],
  ] satisfies State[][]
  const bases = inputs.map((states, i) => {
    const base = join(dir, `${version}-${i}`)
    writeChanging(archiveOutput(base), version, i + 1, states)
    return base
  })
  const out = join(dir, `${version}-all`)
  expect(await tool.run(testIo('pmlogextract', [...bases, out]))).toBe(0)
  const meta = readFileSync(`${out}.meta`)
  expect(misplacedRecords(meta)).toEqual([])
  expect(stampedRecords(meta).map(({ at: [sec] }) => sec - CHANGING_START)).toEqual([0, 5, 10, 12])
  const archive = Archive.open(out, archiveFiles())
  const at = { sec: CHANGING_START + 5, nsec: 0 }
  const { ids, names } = archive.metadata.instances(CHANGING, undefined, at)
  expect([...ids].sort()).toEqual([1, 2, 3, 4, 5, 8])
  expect([...names].sort()).toEqual(changingNames([1, 2, 3, 4, 5, 8]))
  archive.close()
})
