/** Planted causes are among the first changes of a list. `npm run bench -- what-changed` prints more seeds and fainter incidents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change } from '../../src/analysis/what-changed.ts'
import type { Difficulty } from './lib/incident-archive.ts'
import { INCIDENTS } from './lib/incidents.ts'
import { placeOf, textOf } from './lib/score.ts'

/** The panel lists changes with a lower score apart. */
const CLEAR = 0.15

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pcp-ts-incidents-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** The method was tuned on seeds 1 to 6; 101 was not looked at. */
test.each<[string, number, Difficulty]>([
  ['full effect', 101, {}],
  ['over after 5 of 30 minutes', 101, { lastsSec: 300 }],
])(
  '%s, seed %i: the cause is in the top five in 18 of 20 incidents',
  async (_, seed, difficulty) => {
    const missed: string[] = []
    for (const incident of INCIDENTS) {
      const { place, report } = await placeOf(mkdtempSync(`${directory}/`), incident, seed, difficulty)
      if (place > 5) missed.push(`${incident.name}: ${report.changes.slice(0, 5).map(textOf).join(', ')}`)
    }
    expect(INCIDENTS).toHaveLength(20)
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(2)
  },
  120_000,
)

test('without an incident hardly a change is clear', async () => {
  const clear: Change[] = []
  for (const seed of [1, 2, 3, 101, 102, 103]) {
    const { report } = await placeOf(mkdtempSync(`${directory}/`), undefined, seed)
    expect(report.series).toBeGreaterThan(300)
    clear.push(...report.changes.filter(({ score }) => score >= CLEAR))
  }
  // The model has unrelated small changes, some of which are as large.
  expect(clear.length, clear.map(textOf).join(', ')).toBeLessThanOrEqual(3)
  expect(clear.filter(({ score }) => score >= 0.5)).toEqual([])
})
