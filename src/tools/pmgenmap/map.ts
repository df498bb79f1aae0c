/** The input of pmgenmap: lists of metrics, each with a symbol, and what stands between them. pmgenmap(1) */

/** A line of a map, or several where comments follow each other. */
export type MapLine =
  | { readonly kind: 'blank' }
  /** Text of each line, words with one blank between them. */
  | { readonly kind: 'comment'; readonly lines: readonly string[] }
  /** A list begins. */
  | { readonly kind: 'begin'; readonly name: string }
  | { readonly kind: 'metric'; readonly name: string; readonly symbol: string }
  /** A list ends. */
  | { readonly kind: 'end' }

/** A map as far as it could be read. */
export interface MetricMap {
  readonly lines: readonly MapLine[]
  /** What is wrong, with the number of the line: nothing behind the first of them was read. */
  readonly problems: readonly { readonly line: number; readonly text: string }[]
}

/**
 * Reads a map. What PCP's pmgenmap accepts is accepted, odd as it may be: a `}` outside lists, symbols that C does not
 * know. Comments at the end of a map with a mistake are dropped.
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

/** What a line says, or what is wrong with it. */
function parseLine(words: readonly string[], isInside: boolean): MapLine | string {
  const [first, second] = words
  if (first === undefined) return { kind: 'blank' }
  if (words.length === 1 && first === '}') return { kind: 'end' }
  if (words.length === 2 && second === '{') return isInside ? 'nested group?' : { kind: 'begin', name: first }
  if (words.length === 2 && isInside) return { kind: 'metric', name: first, symbol: second! }
  return 'syntax error'
}
