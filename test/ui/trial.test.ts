/** Results of rules belong to the source on which they were tried. */
import { beforeAll, expect, test, vi } from 'vitest'
import type { Source } from '../../src/ui/data/source.ts'
import { stubBrowser } from './lib/browser-globals.ts'

beforeAll(() => {
  stubBrowser()
  return () => vi.unstubAllGlobals()
})

test('a second source of the same key does not show the firings of the first', async () => {
  const { addSource, show } = await import('../../src/ui/page.ts')
  const { currentTrial, trial } = await import('../../src/ui/rules/trial.ts')
  const { marks } = await import('../../src/ui/marks/marks.ts')
  const [first, second] = ['db1', 'db2'].map(
    (host) => ({ key: 'file:20261128.00.00', title: host, host }) as unknown as Source,
  )
  addSource(first!)
  show(first!.key)
  const span = { from: 10, to: 20, count: 1, action: 'print', message: 'busy' }
  const rule = { name: 'expr_1', line: 1, text: 'x', hasAction: true, deltaSec: 10, evaluations: 9 }
  trial.value = {
    source: first!,
    text: 'x',
    deltaSec: 10,
    answer: {
      start: 0,
      finish: 100,
      rules: [{ ...rule, count: 1, spanCount: 1, spans: [span] }],
      problems: [],
    },
  }
  expect(currentTrial.value).toBe(trial.value)
  expect(marks.value.map(({ kind, at }) => [kind, at])).toEqual([['rule', 10]])
  addSource(second!)
  show(second!.key)
  expect(currentTrial.value).toBeUndefined()
  expect(marks.value).toEqual([])
})
