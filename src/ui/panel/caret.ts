/** A mark below a character of a line of text, which is shown in letters of one width. */

const BEFORE = 20

/** The part of a text that fits, and spaces for what is before the character in it. */
export function aroundMistake(
  text: string,
  at: number,
  most: number,
): { readonly text: string; readonly before: string } {
  const from = text.length <= most ? 0 : Math.max(0, Math.min(at - BEFORE, text.length - most))
  return { text: text.slice(from, from + most).replaceAll('\t', ' '), before: ' '.repeat(at - from) }
}
