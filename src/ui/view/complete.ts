/** Completion in expressions: functions and metric names. */
import { FUNCTIONS } from '../../derive/tokens.ts'
import type { ChildrenAnswer, NamesAnswer } from '../data/responses.ts'

/** Source of metric names. */
export interface Names {
  children(prefix: string): Promise<ChildrenAnswer>
  names(match: string, offset: number, limit: number): Promise<NamesAnswer>
}

/** A suggestion. */
export interface Completion {
  readonly text: string
  /** Nodes are followed by further names, functions by arguments. */
  readonly kind: 'metric' | 'node' | 'function'
}

/** Returns the word that ends at `caret`; undefined inside of quotes and brackets or within a word. */
export function wordBefore(text: string, caret: number): string | undefined {
  if (/^[\w.]/.test(text.slice(caret))) return undefined
  const before = text.slice(0, caret)
  const isQuoted = (before.match(/"/g)?.length ?? 0) % 2 === 1
  const isInstance = before.lastIndexOf('[') > before.lastIndexOf(']')
  return isQuoted || isInstance ? undefined : /(?<![\w.])[A-Za-z][\w.]*$/.exec(before)?.[0]
}

/** Maximum number of suggestions. */
const MOST = 10

/** Returns suggestions for a word: names and functions that start with it, then names that contain it. */
export async function completions(
  source: Names,
  word: string,
  functions: Iterable<string> = FUNCTIONS,
): Promise<Completion[]> {
  const dot = word.lastIndexOf('.')
  const node = dot < 0 ? '' : word.slice(0, dot)
  const full = (part: string): string => (node === '' ? part : `${node}.${part}`)
  const starts = (text: string): boolean => text.startsWith(word) && text !== word
  // Unknown nodes have no children.
  const { leaf, nonleaf } = await source.children(node).catch(() => ({ leaf: [], nonleaf: [] }))
  const found: Completion[] = [
    ...[...functions]
      .filter((name) => name.startsWith(word))
      .map((text) => ({ text, kind: 'function' as const })),
    ...leaf
      .map(full)
      .filter(starts)
      .map((text) => ({ text, kind: 'metric' as const })),
    ...nonleaf
      .map(full)
      .filter(starts)
      .map((text) => ({ text, kind: 'node' as const })),
  ]
  if (found.length < MOST && word.length > 1) {
    const { metrics } = await source.names(word, 0, 4 * MOST)
    for (const { name } of metrics)
      if (name.includes(word) && name !== word && !found.some(({ text }) => text === name))
        found.push({ text: name, kind: 'metric' })
  }
  return found.slice(0, MOST)
}

/** Returns the text and the caret after a completion. */
export function completed(
  text: string,
  caret: number,
  word: string,
  { text: chosen, kind }: Completion,
): { readonly text: string; readonly caret: number } {
  const after = text.slice(caret)
  const end = kind === 'node' ? '.' : kind === 'function' && !after.startsWith('(') ? '(' : ''
  const start = text.slice(0, caret - word.length) + chosen + end
  return { text: start + after, caret: start.length }
}
