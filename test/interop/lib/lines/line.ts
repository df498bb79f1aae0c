/** A command line as the generator makes it, runs it and shortens it, and its text. */
import type { OptionRow } from '../../../../src/tools/lib/options.ts'

/**
 * A command line. Words beginning with `<<` are files with the text behind it; `OUT` is an empty directory, and `OUT/NAME`, where the
 * suite has an archive of that name, for a copy of it there.
 */
export interface Line {
  readonly command: string
  readonly parts: readonly Part[]
}

/** Rows of the option tables that a line is read by. */
export interface LineTables {
  readonly own: readonly OptionRow[]
  /** Of `pcp`, before the name of its report. */
  readonly outer?: readonly OptionRow[]
}

/** Words that stay together, such as an option and its argument. */
export interface Part {
  readonly words: readonly string[]
  /** Shortening leaves it in place, as the line would be about something else without it. */
  readonly isKept?: true
}

/** All words after the command. */
export function wordsOf({ parts }: Line): string[] {
  return parts.flatMap(({ words }) => words)
}

/** The command, with the report of `pcp`. */
export function nameOf({ command, parts }: Line): string {
  const report = command === 'pcp' ? parts.find((part) => part.isKept && part.words.length === 1) : undefined
  return report === undefined ? command : `${command} ${report.words[0]}`
}

/** A line as one types it into a shell. */
export function lineText(line: Line): string {
  return [line.command, ...wordsOf(line)].map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Reads the text of a line; each option and its argument become one part, by the command's table. */
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

/** Splits a text into words as a shell does: quotes, no expansion. */
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
