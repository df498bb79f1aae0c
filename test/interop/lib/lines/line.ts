/** A generated command line that can be run, shortened and printed. */
import type { OptionRow } from '../../../../src/tools/lib/options.ts'

/**
 * A command line. Words beginning with `<<` are files with the following text; `OUT` is an empty directory, and `OUT/NAME`, if the suite has
 * an archive of that name, a copy of it there.
 */
export interface Line {
  readonly command: string
  readonly parts: readonly Part[]
}

/** Option tables for parsing a line. */
export interface LineTables {
  readonly own: readonly OptionRow[]
  /** Of `pcp`, before the name of its report. */
  readonly outer?: readonly OptionRow[]
}

/** Words that belong together, such as an option and its argument. */
export interface Part {
  readonly words: readonly string[]
  /** Not removed when shortening, because the line would then be about something else. */
  readonly isKept?: true
}

/** Returns all words after the command. */
export function wordsOf({ parts }: Line): string[] {
  return parts.flatMap(({ words }) => words)
}

/** Returns the command, with the report of `pcp`. */
export function nameOf({ command, parts }: Line): string {
  const report = command === 'pcp' ? parts.find((part) => part.isKept && part.words.length === 1) : undefined
  return report === undefined ? command : `${command} ${report.words[0]}`
}

/** Returns a line as typed into a shell. */
export function lineText(line: Line): string {
  return [line.command, ...wordsOf(line)].map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Parses the text of a line; each option and its argument become one part, by the command's table. */
export function parseLine(text: string, { own, outer = own }: LineTables): Line {
  const [command = '', ...words] = splitWords(text)
  const parts: Part[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    const isBefore = command === 'pcp' && !parts.some(({ isKept }) => isKept)
    const row = (isBefore ? outer : own).find(
      (one) => !('heading' in one) && [`-${one.short}`, `--${one.long}`].includes(word),
    )
    const takesNext =
      row !== undefined && !('heading' in row) && row.arg !== undefined && row.isOptional !== true
    const isPair = takesNext && i + 1 < words.length
    const isReport = isBefore && !word.startsWith('-')
    parts.push({ words: isPair ? [word, words[++i]!] : [word], ...(isReport ? { isKept: true } : {}) })
  }
  return { command, parts }
}

/** Splits a text into words like a shell: quotes, no expansion. */
function splitWords(text: string): string[] {
  const words: string[] = []
  const pattern = /\s*((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+)/gy
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    words.push(
      match[1]!.replace(
        /'([^']*)'|"([^"]*)"|\\(.)/g,
        (_, single, double, escaped) => single ?? double ?? escaped,
      ),
    )
  return words
}
