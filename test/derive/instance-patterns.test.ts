/** matchinst over many instances: results are cached, and the time of a fetch is bounded. docs/reference/derived-metrics.md */
import { expect, test } from 'vitest'
import { compilePattern } from '../../src/base/pattern.ts'
import { PatternWork } from '../../src/derive/instance-patterns.ts'

test('a name is matched once', () => {
  let tried = 0
  const pattern = { steps: 1, test: (name: string) => ++tried > 0 && name === 'a' }
  expect(['a', 'b', 'a'].map((name) => new PatternWork().test(pattern, name))).toEqual([true, false, true])
  expect(tried).toBe(2)
})

test.each(['(((a{1,20}){1,20}b){1,10})*', '(a+)+$', '(.*a){300}b', '[^x]*$'])(
  'a fetch with %s ends for any number of names',
  (text) => {
    const pattern = compilePattern(text)
    const work = new PatternWork()
    let names = 0
    const tryAll = (): void => {
      for (; ; names++) work.test(pattern, `${'a'.repeat(60)}!${names}`)
    }
    expect(tryAll).toThrow(expect.objectContaining({ code: 'ETIMEDOUT' }))
    // Measured: 5 ns for each of these.
    expect(names * 60 * Math.max(30, pattern.steps)).toBeLessThan(20_000_000)
    // Realistic patterns are far from the limit.
    const simple = compilePattern('^(sd|nvme)[a-z0-9]+$')
    const easy = new PatternWork()
    for (let i = 0; i < 5000; i++) easy.test(simple, `nvme${i}n1p${i}-easy-${text.length}`)
  },
)

test('a fetch ends when patterns take too long, and the next one continues there', () => {
  const pattern = compilePattern('(((a{1,20}){1,20}b){1,10})*')
  const names = Array.from({ length: 5000 }, (_, i) => `${'a'.repeat(20)}${i}`)
  let fetches = 0
  const isDone = (): boolean => {
    fetches++
    const work = new PatternWork()
    try {
      return names.every((name) => work.test(pattern, name))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ETIMEDOUT' })
      return false
    }
  }
  while (!isDone()) expect(fetches).toBeLessThan(100)
  expect(fetches).toBeGreaterThan(2)
})
