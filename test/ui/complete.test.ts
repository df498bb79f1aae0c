import { expect, test } from 'vitest'
import { completed, completions, type Names, wordBefore } from '../../src/ui/view/complete.ts'

test.each([
  ['disk.al', 7, 'disk.al'],
  ['rate(disk.', 10, 'disk.'],
  ['a + ke', 6, 'ke'],
  ['1 + ', 4, undefined],
  ['disk.all', 4, undefined],
  ['disk[sd', 7, undefined],
  ['rescale(a, "by', 14, undefined],
  ['a[x] + b', 8, 'b'],
  ['12e', 3, undefined],
])('the word in %j at %i is %j', (text, caret, word) => {
  expect(wordBefore(text, caret)).toBe(word)
})

const source: Names = {
  async children(prefix) {
    if (prefix === '') return { leaf: ['rattle'], nonleaf: ['disk', 'kernel'] }
    if (prefix === 'disk') return { leaf: ['dead'], nonleaf: ['all', 'dev'] }
    throw new Error('Unknown metric name')
  },
  async names(match) {
    const all = ['disk.all.read', 'mem.physmem'].filter((name) => name.includes(match))
    const metrics = all.map((name) => ({
      name,
      pmid: '',
      type: '',
      sem: '',
      units: '',
      indom: null,
      help: '',
    }))
    return { total: metrics.length, metrics }
  },
}
const texts = async (word: string): Promise<string[]> =>
  (await completions(source, word)).map(({ text }) => text)

test('functions and names that start with the word come first, then names that contain it', async () => {
  expect(await texts('ra')).toEqual(['rate', 'rattle'])
  expect(await texts('disk.d')).toEqual(['disk.dead', 'disk.dev'])
  expect(await texts('phys')).toEqual(['mem.physmem'])
  expect(await texts('all.re')).toEqual(['disk.all.read'])
  expect(await texts('nothing.at.all')).toEqual([])
})

test('a completion replaces the word and puts the caret after it', () => {
  const after = (text: string, kind: 'metric' | 'node' | 'function', whole: string): unknown =>
    completed(whole, whole.indexOf('|'), 'di', { text, kind })
  expect(after('disk', 'node', '1 + di|')).toEqual({ text: '1 + disk.|', caret: 9 })
  expect(after('disk.all', 'metric', 'rate(di|)')).toEqual({ text: 'rate(disk.all|)', caret: 13 })
  expect(completed('de(a)', 2, 'de', { text: 'delta', kind: 'function' })).toEqual({
    text: 'delta(a)',
    caret: 5,
  })
})
