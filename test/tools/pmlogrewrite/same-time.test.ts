/** Rewriting of archives in which records of an instance domain share a time, or are not in order. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { tool } from '../../../src/tools/pmlogrewrite/index.ts'
import {
  type BuiltState,
  builtChanging,
  CHANGING,
  CHANGING_START,
  changingNames,
} from '../../archive/changing-instances.ts'
import { misplacedRecords, stampedRecords } from '../../archive/stamped-records.ts'
import { testIo } from '../run-tool.ts'

const top = mkdtempSync(join(tmpdir(), 'rewrite-'))
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(top, 'case-'))
})
afterAll(() => rmSync(top, { recursive: true }))

async function rewrite(
  version: 2 | 3,
  states: readonly BuiltState[],
  ...args: readonly string[]
): Promise<{ kinds: string[]; meta: Uint8Array }> {
  for (const [name, bytes] of Object.entries(builtChanging(version, states)))
    writeFileSync(join(dir, name), bytes)
  const io = testIo('pmlogrewrite', [...args, join(dir, 'a'), join(dir, 'out')])
  expect([await tool.run(io), io.printed.stderr]).toEqual([0, ''])
  const meta = readFileSync(join(dir, 'out.meta'))
  return {
    kinds: stampedRecords(meta).map(({ kind, at: [sec, nsec] }) => `${kind} ${sec - CHANGING_START} ${nsec}`),
    meta,
  }
}

/** Returns the instances of the output, by id. */
function namesAt(second: number): readonly string[] {
  const archive = Archive.open(join(dir, 'out'), archiveFiles())
  const { ids, names } = archive.metadata.instances(CHANGING, undefined, {
    sec: CHANGING_START + second,
    nsec: 0,
  })
  archive.close()
  return [...ids].sort((a, b) => a - b).map((id) => names[[...ids].indexOf(id)]!)
}

const SHARED: readonly BuiltState[] = [
  [0, 'full', [1, 2, 3]],
  [5, 'full', [1, 2, 3, 4]],
  [5, 'full', [1, 2, 3, 5]],
  [9, 'full', [1, 2, 3, 6]],
  [12, 'full', [1, 2, 3, 7]],
  [15, 'full', [1, 2, 3, 8]],
]
/** The record after a shared time is full, all later ones are changes again. */
const SHARED_KINDS = ['full 0 0', 'full 5 0', 'full 5 0', 'full 9 0', 'delta 12 0', 'delta 15 0']

test('version 3 made of version 2 has full records only where they share a time', async () => {
  const { kinds } = await rewrite(2, SHARED, '-V', '3')
  expect(kinds).toEqual(SHARED_KINDS)
  expect(namesAt(5)).toEqual(changingNames([1, 2, 3, 5]))
  expect(namesAt(15)).toEqual(changingNames([1, 2, 3, 8]))
})

test('a shared time is moved with all others', async () => {
  const rules = join(dir, 'rules')
  writeFileSync(rules, 'global { time -> +1:00 }\n')
  const { kinds } = await rewrite(2, SHARED, '-V', '3', '-c', rules)
  expect(kinds).toEqual(['full 60 0', 'full 65 0', 'full 65 0', 'full 69 0', 'delta 72 0', 'delta 75 0'])
  expect(namesAt(65)).toEqual(changingNames([1, 2, 3, 5]))
})

test('records whose times decrease are all full', async () => {
  const states: readonly BuiltState[] = [
    [0, 'full', [1, 2, 3]],
    [9, 'full', [1, 2, 3, 4]],
    [5, 'full', [1, 2, 3, 5]],
    [12, 'full', [1, 2, 3, 6]],
  ]
  const { kinds } = await rewrite(2, states, '-V', '3')
  expect(kinds).toEqual(['full 0 0', 'full 9 0', 'full 5 0', 'full 12 0'])
  expect(namesAt(9)).toEqual(changingNames([1, 2, 3, 4]))
})

test('records that share a time are copied, and with rules only these stay full', async () => {
  expect((await rewrite(3, SHARED)).meta).toEqual(readFileSync(join(dir, 'a.meta')))
  const rules = join(dir, 'rules')
  writeFileSync(rules, 'indom 60.1 { inst 1 -> 10 }\n')
  rmSync(join(dir, 'out.meta'))
  rmSync(join(dir, 'out.index'))
  rmSync(join(dir, 'out.0'))
  const { kinds } = await rewrite(3, SHARED, '-c', rules)
  expect(kinds).toEqual(SHARED_KINDS)
})

test.each<[string, readonly BuiltState[], readonly number[]]>([
  [
    'of the time of the record before',
    [
      [0, 'full', [1, 2, 3]],
      [5, 'delta', [4]],
      [5, 'delta', [-4, 5]],
      [9, 'delta', [6]],
    ],
    [1, 2, 3, 5, 6],
  ],
  [
    'before a full record of the same time',
    [
      [0, 'full', [1, 2, 3]],
      [5, 'delta', [4]],
      [5, 'full', [1, 2, 3, 5]],
      [9, 'delta', [6]],
    ],
    [1, 2, 3, 5, 6],
  ],
  [
    'of the time of an earlier record that is not the one before',
    [
      [0, 'full', [1, 2, 3]],
      [5, 'full', [1, 2, 3, 4]],
      [2, 'full', [1, 2, 3, 5]],
      [5, 'delta', [6]],
    ],
    [1, 2, 3, 5, 6],
  ],
  [
    'before a later record and a full one of their time',
    [
      [0, 'full', [1, 2, 3]],
      [5, 'delta', [4]],
      [9, 'full', [1, 2, 3, 6]],
      [5, 'full', [1, 2, 3, 5]],
    ],
    [1, 2, 3, 6],
  ],
  [
    'without a record before',
    [
      [0, 'delta', [1, 2]],
      [9, 'delta', [3]],
    ],
    [1, 2, 3],
  ],
])('mends changes %s', async (_, states, ids) => {
  expect(misplacedRecords(builtChanging(3, states)['a.meta']!)).not.toEqual([])
  const { meta } = await rewrite(3, states)
  expect(misplacedRecords(meta)).toEqual([])
  expect(namesAt(9)).toEqual(changingNames(ids))
})

test('changes apply to the last record of any input when their versions differ', async () => {
  const inputs: readonly [2 | 3, BuiltState][] = [
    [2, [0, 'full', [1, 2, 3]]],
    [3, [100, 'full', [7, 8, 9]]],
    [2, [200, 'full', [1, 2, 3, 4]]],
  ]
  const bases = inputs.map(([version, state], i) => {
    mkdirSync(join(dir, String(i)))
    for (const [name, bytes] of Object.entries(builtChanging(version, [state])))
      writeFileSync(join(dir, String(i), name), bytes)
    return join(dir, String(i), 'a')
  })
  const io = testIo('pmlogrewrite', [bases.join(','), join(dir, 'out')])
  expect([await tool.run(io), io.printed.stderr]).toEqual([0, ''])
  expect(namesAt(200)).toEqual(changingNames([1, 2, 3, 4]))
})
