/** Translates regular expressions of re_comp(3) to JavaScript: there parentheses and bars are literal unless escaped. */
import { PcpError } from '../../../model/errors.ts'

/** Special characters after a backslash, and their translation. */
const ESCAPED: { readonly [letter: string]: string } = {
  '(': '(?:',
  ')': ')',
  '|': '|',
  '<': '\\b(?=\\w)',
  '>': '\\b(?<=\\w)',
  '`': '^',
  "'": '$',
  w: '\\w',
  W: '\\W',
  b: '\\b',
  B: '\\B',
}
const BRACKET = /\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/y
const CLASSES: { readonly [name: string]: string } = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
}

/** Compiles a pattern. PM_ERR_BADSTORE if it is invalid. */
export function compilePattern(pattern: string): RegExp {
  let source = ''
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]!
    BRACKET.lastIndex = at
    const bracket = char === '[' ? BRACKET.exec(pattern) : null
    if (bracket !== null) {
      source += translateBracket(bracket[0])
      at += bracket[0].length
    } else if (char === '\\' && at + 1 < pattern.length) {
      const letter = pattern[at + 1]!
      source += ESCAPED[letter] ?? (/\w/.test(letter) ? letter : `\\${letter}`)
      at += 2
    } else {
      source += /[(){}|/\\\]]/.test(char) ? `\\${char}` : char
      at++
    }
  }
  try {
    return new RegExp(source)
  } catch (error) {
    throw new PcpError('PM_ERR_BADSTORE', `/${pattern}/ is not a regular expression`, { cause: error })
  }
}

function translateBracket(bracket: string): string {
  const isNegated = bracket[1] === '^'
  const inside = bracket.slice(isNegated ? 2 : 1, -1)
  const escaped = inside
    .replace(/\\/g, '\\\\')
    .replace(/^\]/, '\\]')
    .replace(/\[(?!:)/g, '\\[')
    .replace(/\[:(\w+):\]/g, (all, name: string) => CLASSES[name] ?? all)
  return `[${isNegated ? '^' : ''}${escaped}]`
}
