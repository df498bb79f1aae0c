/** scripts/prose.mjs: which text of a file counts as prose, and which phrases are markers. */
import { expect, test } from 'vitest'

interface Prose {
  readonly proseOf: (path: string, text: string) => readonly string[]
  readonly markersIn: (text: string) => readonly string[]
}
const { proseOf, markersIn } = (await import(new URL('../scripts/prose.mjs', import.meta.url).href)) as Prose

test('comments and longer strings of code are prose, code is not', () => {
  const text = [
    "const somebody = 'a short'",
    '/** One. */',
    "run('a longer text of words') // why",
    ' * code',
  ].join('\n')
  expect(proseOf('a.ts', text).map((line) => line.trim())).toEqual([
    '',
    '/** One. */',
    'why a longer text of words',
    '',
  ])
})

test('Markdown is prose but for its code', () => {
  const text = ['# Title', '```sh', 'somebody', '```', '    somebody', 'text'].join('\n')
  expect(proseOf('a.md', text)).toEqual(['# Title', '', '', '', '', 'text'])
})

test('each marker counts as often as it occurs', () => {
  expect(markersIn('The client reads the archive; there is no longer a server.')).toEqual([])
  expect(markersIn('Whoever asked, asked for one that is none.')).toEqual([
    'somebody',
    'is none',
    'tells, hears, says',
    'tells, hears, says',
    'one that',
  ])
})
