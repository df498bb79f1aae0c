/** Syntax errors in PCP's format. */

/** Returns a SyntaxError of two lines: the text, and below it a caret at an offset and the message. */
export function caretError(text: string, at: number, message: string): SyntaxError {
  return new SyntaxError(`${text}\n${' '.repeat(at)}^ -- ${message}`)
}
