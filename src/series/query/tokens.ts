/** Tokens of a query. */

/** What a token is. */
export type TokenKind =
  | 'name'
  | 'function'
  | 'key'
  | 'string'
  | 'number'
  | 'interval'
  | 'symbol'
  | 'end'
  | 'bad'

/** A token, with its place in the text. */
export interface Token {
  readonly kind: TokenKind
  /** As written; strings without quotes. */
  readonly text: string
  readonly at: number
}

/** Keys of windows by keyword, including synonyms. The keywords are reserved: no metric is found by such a name. */
export const WINDOW_KEYS: ReadonlyMap<string, WindowKey> = new Map([
  ['samples', 'samples'],
  ['count', 'samples'],
  ['interval', 'interval'],
  ['delta', 'interval'],
  ['start', 'start'],
  ['begin', 'start'],
  ['finish', 'finish'],
  ['end', 'finish'],
  ['align', 'align'],
  ['alignment', 'align'],
  ['offset', 'offset'],
  ['from', 'offset'],
  ['timezone', 'zone'],
  ['tz', 'zone'],
])

/** A key of a window. */
export type WindowKey = 'samples' | 'interval' | 'start' | 'finish' | 'align' | 'offset' | 'zone'

/** What follows the operand of a function. */
export type Parameter = 'none' | 'optional' | 'count' | 'percentage' | 'units'

/** Functions, with their second argument. */
export const FUNCTIONS: ReadonlyMap<string, Parameter> = new Map([
  ...['max', 'min', 'sum', 'avg']
    .flatMap((name) => [name, `${name}_inst`, `${name}_sample`])
    .concat('stdev_inst', 'stdev_sample', 'rate', 'abs', 'floor', 'round', 'sqrt')
    .map((name) => [name, 'none'] as const),
  ['log', 'optional'],
  ['topk_inst', 'count'],
  ['topk_sample', 'count'],
  ['nth_percentile_inst', 'percentage'],
  ['nth_percentile_sample', 'percentage'],
  ['rescale', 'units'],
])

const BLANKS = /[ \t\r\n]+/y
const NAME = /[A-Za-z](?:[A-Za-z0-9_.*%]|\\.)*/y
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const INTERVAL = /\d+(?:\.\d*)?[ \t]*[A-Za-z]+/y
const SYMBOL = /==|~~|=~|!~|!=|<=|>=|&&|\|\||[{}[\]():,<>=+\-*/]/y
const STRING = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/y

/** Splits a query into tokens, the last of kind `end`. An invalid character gives a `bad` token instead, and the list ends there. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text) ?? undefined
  }
  for (;;) {
    at += take(BLANKS)?.[0].length ?? 0
    if (at === text.length) break
    const token = take(STRING) ?? take(INTERVAL) ?? take(NUMBER) ?? take(NAME) ?? take(SYMBOL)
    if (token === undefined) {
      tokens.push({ kind: 'bad', text: text[at]!, at })
      return tokens
    }
    tokens.push({ kind: kindOf(token), text: contentOf(token), at })
    at += token[0].length
  }
  tokens.push({ kind: 'end', text: '', at: tokens.at(-1)?.at ?? 0 })
  return tokens
}

function kindOf([text]: RegExpExecArray): TokenKind {
  const [first = ''] = text
  if (first === '"' || first === "'") return 'string'
  if (/[\d.]/.test(first)) return /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? 'number' : 'interval'
  if (!/[A-Za-z]/.test(first)) return 'symbol'
  if (WINDOW_KEYS.has(text)) return 'key'
  return FUNCTIONS.has(text) ? 'function' : 'name'
}

function contentOf([text, double, single]: RegExpExecArray): string {
  const quoted = double ?? single
  return quoted === undefined ? text : quoted.replace(/\\(["'\\])/g, '$1')
}
