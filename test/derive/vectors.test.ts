/** Recorded results of derived metrics: descriptors, values over a data set, and errors. */
import { describe, expect, test } from 'vitest'
import { Sample } from '../agents/sample/open.ts'
import { datasetSource, vectors } from './dataset.ts'
import { MENDED, REASONS } from './mended.ts'
import { type Case, complaint, expected, expectedComplaint, observe } from './observe.ts'

const FILES =
  'syntax precedence types semantics units instances rescale ternary nested functions live_sample'.split(' ')

/** Metrics of the live cases that belong to another agent, and a metric that depends on the history of the agent. */
const NOT_OURS = /\bpmcd\.|\bsample\.scramble\./

/** Returns the intentional differences of a file, by expression. */
function mendedIn(file: string): Map<string, (typeof MENDED)[number]> {
  return new Map(MENDED.filter((row) => row.file === file).map((row) => [row.expr, row]))
}

async function observeLive(vector: Case, sample: Sample): Promise<Case> {
  const tick = (): void => {
    sample.now += 1000
  }
  return observe(vector, sample.agent, { tick })
}

describe('descriptors and values', () => {
  for (const file of FILES) {
    test(`${file}.json`, async () => {
      const { cases, count } = vectors<{ cases: Case[]; count: number }>(file)
      expect(cases.length).toBe(count)
      const mended = mendedIn(file)
      const sample = new Sample()
      const wrong: unknown[] = []
      let compared = 0
      for (const vector of cases) {
        const isLive = file === 'live_sample'
        if (isLive && NOT_OURS.test(vector.expr)) continue
        const got = isLive
          ? await observeLive(vector, sample)
          : await observe(vector, datasetSource(), { marker: 'g.s32.i' })
        const other = mended.get(vector.expr)
        const want = other === undefined ? expected(vector) : { expr: vector.expr, ...other.instead }
        compared++
        if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push({ got, want })
      }
      const times = (why: string): number => [...mended.values()].filter((row) => row.why === why).length
      const reasons = Object.keys(REASONS).filter((why) => times(why) > 0)
      const list = reasons.map((why) => `${why} ${times(why)}`).join(', ')
      console.log(`${file}: ${compared} of ${count} cases compared; mended: ${list || 'none'}`)
      expect(wrong).toEqual([])
    })
  }
})

describe('errors of defining it in one context', () => {
  for (const file of FILES.filter((name) => name !== 'live_sample')) {
    test(`${file}.json`, async () => {
      const { cases } = vectors<{ cases: Case[] }>(file)
      const mended = mendedIn(file)
      const wrong: unknown[] = []
      let complaints = 0
      for (const vector of cases) {
        const { why } = mended.get(vector.expr) ?? {}
        if (why === 'constant' || why === 'self') continue
        const got = await complaint(vector, datasetSource())
        const want = wanted(vector)
        if (got !== undefined) complaints++
        if (got !== want) wrong.push({ expr: vector.expr, got, want })
      }
      console.log(`${file}: ${complaints} complaints of ${cases.length} definitions compared`)
      expect(wrong).toEqual([])
    })
  }
})

function wanted(vector: Case): string | undefined {
  // meta= of mkconst and novalue works for one context as it does for the whole process.
  if (vector.addError !== undefined && /meta=/.test(vector.expr) && vector.desc !== undefined)
    return undefined
  // Recorded byte by byte, as Latin-1.
  return expectedComplaint(vector)?.replace('Ã©', 'é')
}
