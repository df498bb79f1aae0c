/**
 * Archives in which instances change within one time, read by the reference: pmdumplog and pmval of PCP 6.0.3 crash on changes with the time
 * of the record before or after them.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { tool as pmlogextract } from '../../src/tools/pmlogextract/index.ts'
import { tool as pmlogrewrite } from '../../src/tools/pmlogrewrite/index.ts'
import {
  builtChanging,
  CHANGING_START,
  changingNames,
  type State,
  writeChanging,
} from '../archive/changing-instances.ts'
import { testIo } from '../tools/run-tool.ts'
import { hasReference, plainEnv } from './lib/programs.ts'

const dir = hasReference ? mkdtempSync(join(tmpdir(), 'same-time-')) : ''
afterAll(() => {
  if (hasReference) rmSync(dir, { recursive: true })
})

function reference(command: string, ...args: readonly string[]): { status: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { env: plainEnv(), encoding: 'utf8' })
  return { status, out: stdout + stderr }
}

/** Checks that the reference reads an archive, and that pmval has a column for each instance. */
function expectReadable(base: string, ids: readonly number[], metric = 'changing.m1'): void {
  expect(reference('pmlogcheck', '-w', base)).toEqual({ status: 0, out: '' })
  const dump = reference('pmdumplog', '-a', base)
  expect(dump.status).toBe(0)
  expect(dump.out).not.toMatch(/Botch|null/)
  const { status, out } = reference('pmval', '-a', base, '-t', '1', metric)
  expect(status).toBe(0)
  expect(out).not.toContain('Botch')
  const columns = new Set(
    out.split('\n').flatMap((line) => (/^ +i\d/.test(line) ? line.trim().split(/ +/) : [])),
  )
  expect([...columns].sort()).toEqual(changingNames(ids).sort())
}

const STATES: readonly State[] = [
  [0, [0, 1, 2, 3]],
  [0, [0, 1, 2, 3, 4]],
  [5, [0, 1, 2, 3, 5]],
  [6, [0, 1, 2, 3, 6]],
  [6, [0, 1, 2, 3, 7]],
  [6, [0, 1, 2, 3]],
  [8, [0, 1, 2, 3, 8]],
  [9, [0, 1, 2, 3]],
]

describe.skipIf(!hasReference)('the reference reads', () => {
  test.each([2, 3] as const)('what the writer makes of equal times: version %i', (version) => {
    const base = join(dir, `writer-${version}`)
    writeChanging(archiveOutput(base), version, 1, STATES)
    expectReadable(base, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  test.each([2, 3] as const)('imports with several records of one time: version %i', (version) => {
    const base = join(dir, `import-${version}`)
    const archive = new ArchiveImport(archiveOutput(base), {
      version,
      hostname: 'h',
      timezone: 'UTC',
      pid: 7,
    })
    archive.addMetric('changing.m1', { type: PM_TYPE_U32, indom: 'd' })
    for (let i = 0; i < 12; i++) {
      archive.addLabels({ step: i })
      archive.put('changing.m1', i, `i${i}`)
      archive.write({ sec: CHANGING_START + (i >> 2), nsec: 0 })
    }
    archive.put('changing.m1', 0, 'i0')
    archive.write({ sec: CHANGING_START + 3, nsec: 0 })
    archive.close()
    expectReadable(base, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(reference('pminfo', '-l', '-O', '3', '-a', base, 'changing.m1').out).toContain('"step":11')
  })

  test.each([2, 3] as const)('merges with different instances at one time: version %i', async (version) => {
    const inputs: readonly (readonly State[])[] = [
      [
        [0, [0, 1, 2, 3]],
        [5, [0, 1, 2, 3, 4]],
        [10, [0, 1, 2, 3]],
      ],
      [
        [0, [0, 1, 2, 3]],
        [5, [0, 1, 2, 3, 5]],
        [10, [0, 1, 2, 3]],
      ],
    ]
    const bases = inputs.map((states, i) => {
      const base = join(dir, `input-${version}-${i}`)
      writeChanging(archiveOutput(base), version, i + 1, states)
      return base
    })
    const out = join(dir, `merge-${version}`)
    expect(await pmlogextract.run(testIo('pmlogextract', [...bases, out]))).toBe(0)
    for (const metric of ['changing.m1', 'changing.m2']) expectReadable(out, [0, 1, 2, 3, 4, 5], metric)
    const dump = reference('pmdumplog', '-a', out).out
    expect(dump).toMatch(/inst \[4 or "i4"\] value 504/)
    expect(dump).toMatch(/inst \[5 or "i5"\] value 505/)
  })

  test('rewritten archives whose records it cannot read', async () => {
    const files = builtChanging(3, [
      [0, 'full', [1, 2, 3, 4]],
      [5, 'delta', [5]],
      [5, 'delta', [-5, 6]],
      [9, 'delta', [7]],
    ])
    const base = join(dir, 'a')
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(dir, name), bytes)
    // A later version may read them.
    console.log(
      `same-time: pmval of misplaced changes ends with ${reference('pmval', '-a', base, '-t', '1', 'changing.m1').status}`,
    )
    const out = join(dir, 'rewritten')
    expect(await pmlogrewrite.run(testIo('pmlogrewrite', [base, out]))).toBe(0)
    expectReadable(out, [1, 2, 3, 4, 5, 6, 7])
  })
})
