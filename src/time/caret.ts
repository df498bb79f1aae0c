/** How PCP shows what is wrong with a text. */

/** A SyntaxError of two lines: the text, and below it a caret at an offset and what is wrong there. */
export function atCaret(text: string, at: number, message: string): SyntaxError {
  return new SyntaxError(`${text}\n${' '.repeat(at)}^ -- ${message}`)
}
