/** Planted causes are among the first changes of a list. `npm run bench -- what-changed` prints more seeds and fainter incidents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { INCIDENTS } from './lib/incidents.ts'
import { placeOf, textOf } from './lib/score.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pcp-ts-incidents-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** The method was tuned on seed 1; 101 was not looked at. */
test.each([1, 101])(
  'seed %i: the cause is in the top five in 18 of 20 incidents',
  async (seed) => {
    const missed: string[] = []
    for (const incident of INCIDENTS) {
      const { place, report } = await placeOf(directory, incident, seed)
      if (place > 5) missed.push(`${incident.name}: ${report.changes.slice(0, 5).map(textOf).join(', ')}`)
    }
    expect(INCIDENTS).toHaveLength(20)
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(2)
  },
  120_000,
)

test('without an incident, no change has half of the full score', async () => {
  const { report } = await placeOf(directory, undefined, 1)
  expect(report.series).toBeGreaterThan(300)
  expect(report.changes.filter(({ score }) => score >= 0.5)).toEqual([])
})
