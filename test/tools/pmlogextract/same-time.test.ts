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
  const out = await merged('all', version, inputs)
  const meta = readFileSync(`${out}.meta`)
  expect(stampedRecords(meta).map(({ at: [sec] }) => sec - CHANGING_START)).toEqual([0, 5, 10, 12])
  const archive = Archive.open(out, archiveFiles())
  const at = { sec: CHANGING_START + 5, nsec: 0 }
  const { ids, names } = archive.metadata.instances(CHANGING, undefined, at)
  expect([...ids].sort()).toEqual([1, 2, 3, 4, 5, 8])
  expect([...names].sort()).toEqual(changingNames([1, 2, 3, 4, 5, 8]))
  archive.close()
})

const opened = (base: string): Archive => Archive.open(base, archiveFiles())
const namesAt = (archive: Archive, seconds: number): readonly string[] =>
  [
    ...archive.metadata.instances(CHANGING, undefined, { sec: CHANGING_START + seconds, nsec: 0 }).names,
  ].sort()

/** Writes archives with these states, merges them, and returns the base of the result. */
async function merged(name: string, version: 2 | 3, inputs: readonly State[][]): Promise<string> {
  const bases = inputs.map((states, i) => {
    const base = join(dir, `${name}-${version}-${i}`)
    writeChanging(archiveOutput(base), version, i + 1, states)
    return base
  })
  const out = join(dir, `${name}-${version}`)
  expect(await tool.run(testIo('pmlogextract', [...bases, out]))).toBe(0)
  expect(misplacedRecords(readFileSync(`${out}.meta`))).toEqual([])
  return out
}

test.each([2, 3] as const)(
  'of version %i keep the instances of an input that does not change',
  async (version) => {
    const out = await merged('kept', version, [
      [
        [0, [1, 2]],
        [10, [1, 2, 4]],
        [30, [1, 2, 4]],
      ],
      [
        [0, [1, 3]],
        [10, [1, 3]],
        [20, [1, 3, 5]],
        [25, [1, 3, 5]],
      ],
    ])
    const archive = opened(out)
    for (const [seconds, ids] of [
      [0, [1, 2, 3]],
      [10, [1, 2, 3, 4]],
      [20, [1, 2, 3, 4, 5]],
      [30, [1, 2, 3, 4, 5]],
    ] as const)
      expect(namesAt(archive, seconds)).toEqual(changingNames(ids))
    archive.close()
  },
)

test('names of several states of one time are found and extracted', async () => {
  const out = await merged('states', 3, [
    [
      [9, [1]],
      [10, [1, 2]],
      [10, [1, 2, 3]],
      [11, [1, 4]],
    ],
  ])
  const input = opened(join(dir, 'states-3-0'))
  expect(namesAt(input, 10)).toEqual(changingNames([1, 2, 3]))
  input.close()
  const archive = opened(out)
  expect(namesAt(archive, 10)).toEqual(changingNames([1, 2, 3]))
  expect(namesAt(archive, 11)).toEqual(changingNames([1, 4]))
  archive.close()
})
