import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loggable, loggableMessage, printable, printableWord } from '../../src/base/printable.ts'
import { decodeText } from '../../src/base/text.ts'

/** Text of any code units, including lone surrogates, with more dangerous ones than at random. */
const HOSTILE = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom('\x1b', '\x9b', '\u202e', '\u2066', '\n', '\t', '\r', '\udc9b', 'a', ' ', '\u{e0041}'),
  ),
  maxLength: 60,
})

/** Whether a terminal could obey this, or a reader be deceived. By code points, not by the classes of the code under test. */
function isHarmful(code: number): boolean {
  const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f)
  const isMark = code === 0x61c || (code >= 0x200b && code <= 0x200f) || code === 0xfeff || code === 0xad
  const isDirection = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f)
  const isTag = code >= 0xe0000 && code <= 0xe0fff
  const isHalf = code >= 0xd800 && code <= 0xdfff
  return isControl || isMark || isDirection || isTag || isHalf
}

const harmIn = (text: string, ...allowed: readonly string[]): string[] =>
  [...text].filter((char) => isHarmful(char.codePointAt(0)!) && !allowed.includes(char))

describe('text for a terminal', () => {
  test('shows controls as pictures of the same width', () => {
    expect(printable('a\x1b[31mb\x07\x00\x7f')).toBe('a␛[31mb␇␀␡')
    expect(printable('\u009b31m \u202e \u200b \udc9b \ud83d')).toBe('␦31m ␦ ␦ ␦ ␦')
    expect(printable('\u{e0041}')).toBe('␦␦')
  })

  test('keeps letters of all scripts, and the tabs and newlines of a report', () => {
    const text = 'één\tdeux\n日本 العربية 😀 ─│'
    expect(printable(text)).toBe(text)
  })

  test('a name within a line has no newline', () => {
    expect(printableWord('x\ny')).toBe('x␊y')
  })

  test('has no control characters, and columns keep their position', () => {
    fc.assert(
      fc.property(HOSTILE, (text) => {
        const shown = printable(text)
        expect(shown).toHaveLength(text.length)
        expect(harmIn(shown, '\t', '\n')).toEqual([])
        expect(printable(shown)).toBe(shown)
        expect(harmIn(printableWord(text), '\t')).toEqual([])
      }),
    )
  })

  test('bytes that are not UTF-8 are not combined to a control character', () => {
    // Written separately, read together: the two bytes of U+009B.
    const name = decodeText(Uint8Array.of(0xc2)) + decodeText(Uint8Array.of(0x9b))
    expect(printable(name)).toBe('␦␦')
  })
})

describe('text for a log', () => {
  test('has codes, and shows a byte that is not UTF-8 as \\xNN', () => {
    expect(loggable('a\x1b[2J\u202e\udc9b\u{e0041}\u009b')).toBe('a\\x1b[2J\\u202e\\x9b\\u{e0041}\\x9b')
  })

  test('a message is one line, a stack below it remains', () => {
    const text = 'no "x\n[Fri Nov 20 09:22:51] pmcd(1) Info: ok"\n    at run (pmcd.ts:1)'
    expect(loggableMessage(text)).toBe(
      'no "x\\x0a[Fri Nov 20 09:22:51] pmcd(1) Info: ok"\n    at run (pmcd.ts:1)',
    )
  })

  test('has no control characters and no forged lines', () => {
    fc.assert(
      fc.property(HOSTILE, (text) => {
        expect(harmIn(loggable(text), '\t', '\n')).toEqual([])
        expect(harmIn(loggableMessage(text).replaceAll('\n    at ', ''), '\t')).toEqual([])
      }),
    )
  })
})
