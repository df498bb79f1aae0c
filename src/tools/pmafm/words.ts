/** Splits a command line into words like a shell: at blanks, except within quotes or after backslashes. */

/** Splits a line. An unclosed quote ends with the line. */
export function shellWords(line: string): string[] {
  const words: string[] = []
  for (const [whole] of line.matchAll(/(?:[^\s'"\\]|'[^']*'?|"(?:[^"\\]|\\.)*"?|\\.)+/gs))
    words.push(whole.replace(/'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)/gs, unquoted))
  return words
}

function unquoted(_: string, single?: string, double?: string, escaped?: string): string {
  return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? ''
}
