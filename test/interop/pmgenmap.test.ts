/** Compares pmgenmap with PCP's, on recorded and on random maps. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cText } from '../../src/tools/pmgenmap/c.ts'
import { parseMap } from '../../src/tools/pmgenmap/map.ts'
import { generator } from '../lib/generator.ts'
import { isExhaustive, seed } from '../lib/seed.ts'

const CASES = isExhaustive ? 5000 : 200
const LINES = [
  '',
  '# one',
  '#',
  '# a b  c',
  'list {',
  '}',
  ' m.n  SYM',
  '\tx.y\tZ',
  'one',
  'a b c',
  '{',
  'm }',
  '# }',
  '#x',
]

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmgenmap-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

test('generates the same C from the same lines', () => {
  if (spawnSync('pmgenmap', ['nosuch'], { encoding: 'utf8' }).error !== undefined) {
    console.log('skipped: no pmgenmap of PCP here')
    return
  }
  const random = generator(seed)
  let good = 0
  for (let i = 0; i < CASES; i++) {
    let text = ''
    const lines = random(9)
    for (let k = 0; k < lines; k++) {
      // Half of the lines are in a meaningful order, otherwise most maps would end at the first error.
      const index = random(2) === 0 ? [4, 6, 1, 5][k % 4]! : random(LINES.length)
      text += `${LINES[index]}\n`
    }
    writeFileSync(join(dir, 'in'), text)
    const reference = spawnSync('pmgenmap', ['in'], { cwd: dir, encoding: 'utf8' })
    const map = parseMap(text)
    if (map.problems.length === 0) good++
    const what = `seed ${seed}, case ${i}: ${JSON.stringify(text)}`
    expect(cText(map, 'in'), what).toBe(reference.stdout.split('\n').slice(9).join('\n'))
    expect(map.problems.length > 0 ? 1 : 0, what).toBe(reference.status)
  }
  console.log(`pmgenmap: seed ${seed}, ${CASES} maps compared, ${good} of them without mistake`)
  expect(good).toBeGreaterThan(0)
})
