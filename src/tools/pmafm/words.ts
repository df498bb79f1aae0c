/** Words of a command line as shells have them: blanks part them, quotes and backslashes keep them together. */

/** Takes a line apart. A quote that is never closed ends with the line. */
export function shellWords(line: string): string[] {
  const words: string[] = []
  for (const [whole] of line.matchAll(/(?:[^\s'"\\]|'[^']*'?|"(?:[^"\\]|\\.)*"?|\\.)+/gs))
    words.push(whole.replace(/'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)/gs, unquoted))
  return words
}

function unquoted(_: string, single?: string, double?: string, escaped?: string): string {
  return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? ''
}
