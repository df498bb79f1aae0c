/** Parser of pmgenmap's input: lists of metrics with symbols, and comments. pmgenmap(1) */

/** A line of a map, or several consecutive comment lines. */
export type MapLine =
  | { readonly kind: 'blank' }
  /** Text of each line, words separated by one blank. */
  | { readonly kind: 'comment'; readonly lines: readonly string[] }
  /** Start of a list. */
  | { readonly kind: 'begin'; readonly name: string }
  | { readonly kind: 'metric'; readonly name: string; readonly symbol: string }
  /** End of a list. */
  | { readonly kind: 'end' }

/** A map, as far as it is valid. */
export interface MetricMap {
  readonly lines: readonly MapLine[]
  /** Errors with line numbers; nothing after the first error is read. */
  readonly problems: readonly { readonly line: number; readonly text: string }[]
}

/**
 * Parses a map. Accepts everything PCP's pmgenmap accepts, including a `}` outside lists and symbols that are invalid in C. Drops
 * comments at the end of a map with errors.
 */
export function parseMap(text: string): MetricMap {
  const lines: MapLine[] = []
  const problems: { line: number; text: string }[] = []
  let comments: string[] = []
  let isInside = false
  const flush = (): void => {
    if (comments.length > 0) lines.push({ kind: 'comment', lines: comments })
    comments = []
  }
  const input = text.replaceAll('\r', '\n').split('\n')
  if (input.at(-1) === '') input.pop()
  let number = 0
  for (const line of input) {
    number++
    const words = line.split(/[ \t]+/).filter((word) => word !== '')
    if (words[0] === '#') {
      comments.push(words.slice(1).join(' '))
      continue
    }
    flush()
    const read = parseLine(words, isInside)
    if (typeof read === 'string') {
      problems.push({ line: number, text: read })
      break
    }
    if (read.kind === 'begin') isInside = true
    if (read.kind === 'end') isInside = false
    lines.push(read)
  }
  if (isInside) problems.push({ line: number, text: 'unterminated group?' })
  if (problems.length === 0) flush()
  return { lines, problems }
}

/** Parses a line, or returns an error message. */
function parseLine(words: readonly string[], isInside: boolean): MapLine | string {
  const [first, second] = words
  if (first === undefined) return { kind: 'blank' }
  if (words.length === 1 && first === '}') return { kind: 'end' }
  if (words.length === 2 && second === '{') return isInside ? 'nested group?' : { kind: 'begin', name: first }
  if (words.length === 2 && isInside) return { kind: 'metric', name: first, symbol: second! }
  return 'syntax error'
}
