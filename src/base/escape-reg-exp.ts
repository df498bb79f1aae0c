/** Returns the pattern of a regular expression, of JavaScript or RE2, that matches a text literally. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
