/** Formats our man pages as plain text, for systems without man(1). It knows the macros that man.ts writes, and no others. */
import { balancedLines } from './wrap.ts'

const INDENT = 7
const TERM_INDENT = 14
const HEADING_INDENT = 3
const MORE = 4

/** Returns a page as text of at most `width` columns, except for examples, which are not filled. */
export function manText(page: string, width: number): string {
  const out: string[] = []
  let words: string[] = []
  let indent = INDENT
  let shift = 0
  let isTerm = false
  let isExample = false
  const put = (text: string, column: number): void => void out.push(`${' '.repeat(column)}${text}`.trimEnd())
  const fill = (): void => {
    const column = indent + shift
    for (const line of balancedLines(words, Math.max(width - column, 20))) put(line, column)
    words = []
  }
  const blank = (): void => {
    if (out.length > 0 && out.at(-1) !== '') out.push('')
  }
  const term = (text: string): void => {
    put(text, INDENT)
    indent = TERM_INDENT
    isTerm = false
  }
  for (const line of page.trimEnd().split('\n')) {
    const [, macro, rest = ''] = /^\.([A-Z]+|\\")(?: (.*))?$/.exec(line) ?? []
    if (macro === undefined) {
      if (isTerm) term(plain(line))
      else if (isExample) put(plain(line), indent + shift)
      else words.push(...plain(line).split(/\s+/).filter(Boolean))
      continue
    }
    if (macro === 'B' && isTerm) term(plain(rest))
    else if (macro === 'B') words.push(...plain(rest).split(' '))
    else if (macro === 'BR') words.push(plain(rest).replace(' (', '('))
    else if (macro !== '\\"') {
      fill()
      if (macro === 'SH' || macro === 'SS') {
        blank()
        put(plain(rest).replace(/^"(.*)"$/, '$1'), macro === 'SH' ? 0 : HEADING_INDENT)
        indent = INDENT
      } else if (macro === 'TP') {
        isTerm = true
      } else if (macro === 'PP') {
        blank()
        indent = INDENT
      } else if (macro === 'RS') shift += MORE
      else if (macro === 'RE') shift = Math.max(0, shift - MORE)
      else if (macro === 'EX' || macro === 'EE') isExample = macro === 'EX'
    }
  }
  fill()
  return `${out.join('\n')}\n`
}

/** Removes the escapes of man(7). */
function plain(text: string): string {
  return text
    .replace(/\\f[BIR]/g, '')
    .replace(/\\\(dq/g, '"')
    .replace(/\\\(cq/g, '’')
    .replace(/\\&/g, '')
    .replace(/\\-/g, '-')
    .replace(/\\e/g, '\\')
}
