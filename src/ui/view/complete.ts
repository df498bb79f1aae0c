/** What the word that is being typed in an expression may become: functions, and names of metrics. */
import { FUNCTIONS } from '../../derive/tokens.ts'
import type { ChildrenAnswer, NamesAnswer } from '../data/answers.ts'

/** Where names are looked for. */
export interface Names {
  children(prefix: string): Promise<ChildrenAnswer>
  names(match: string, offset: number, limit: number): Promise<NamesAnswer>
}

/** Something the word may become. */
export interface Completion {
  readonly text: string
  /** Of a node more is to follow, of a function its arguments. */
  readonly kind: 'metric' | 'node' | 'function'
}

/** The word that ends at `caret`; nothing inside of quotes and brackets, or when the caret is within a word. */
export function wordAt(text: string, caret: number): string | undefined {
  if (/^[\w.]/.test(text.slice(caret))) return undefined
  const before = text.slice(0, caret)
  const isQuoted = (before.match(/"/g)?.length ?? 0) % 2 === 1
  const isInstance = before.lastIndexOf('[') > before.lastIndexOf(']')
  return isQuoted || isInstance ? undefined : /(?<![\w.])[A-Za-z][\w.]*$/.exec(before)?.[0]
}

/** At most that many are shown. */
const MOST = 10

/** What a word may become: what begins with it, and after that names that have it somewhere. */
export async function completions(source: Names, word: string): Promise<Completion[]> {
  const dot = word.lastIndexOf('.')
  const node = dot < 0 ? '' : word.slice(0, dot)
  const full = (part: string): string => (node === '' ? part : `${node}.${part}`)
  const starts = (text: string): boolean => text.startsWith(word) && text !== word
  // A node that there is not has nothing below it.
  const { leaf, nonleaf } = await source.children(node).catch(() => ({ leaf: [], nonleaf: [] }))
  const found: Completion[] = [
    ...[...FUNCTIONS]
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

/** The text and the caret once the word before the caret has become something. */
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
