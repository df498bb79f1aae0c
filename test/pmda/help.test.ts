import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wrapText } from '../../src/pmda/help.ts'

test('breaks long lines at spaces', () => {
  const words = 'word '.repeat(30).trim()
  const wrapped = wrapText(words)
  expect(wrapped.split('\n').map((line) => line.length)).toEqual([74, 74])
  expect(wrapped.replaceAll('\n', ' ')).toBe(words)
})

test('leaves short lines, indented lines and long words unchanged', () => {
  const text = `short\n\n  ${'a b '.repeat(40)}\n${'x'.repeat(100)}`
  expect(wrapText(text)).toBe(text)
})

test('loses no word, and no line is longer than it must be', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,90}$/), { minLength: 1, maxLength: 40 }), (words) => {
      const lines = wrapText(words.join(' ')).split('\n')
      expect(lines.join(' ').split(' ')).toEqual(words)
      for (const line of lines) if (line.includes(' ')) expect(line.length).toBeLessThanOrEqual(75)
    }),
  )
})
