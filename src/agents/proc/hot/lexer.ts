/** Splits predicates of hot processes into tokens. docs/reference/agents/proc.md */
import { PcpError } from '../../../model/errors.ts'

/** Kind and text of a token, without quotes. */
export interface Token {
  readonly kind: 'number' | 'text' | 'pattern' | 'word' | 'sign' | 'end'
  readonly text: string
  readonly line: number
}

const SPACE = /[ \t\r]+/y
const COMMENT = /#[^\n]*/y
const RULES: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /(\d+\.?\d*|\.\d+)(?![\w.])/y],
  ['text', /"([^"\n]*)"/y],
  ['pattern', /\/([^/\n]*)\//y],
  ['word', /([A-Za-z_]\w*)/y],
  ['sign', /(&&|\|\||==|!=|<=|>=|!~|[<>!~()])/y],
]

/** Splits a text into tokens. PM_ERR_BADSTORE names the line of an invalid one. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let line = 1
  let at = 0
  const accept = (rule: RegExp): RegExpExecArray | null => {
    rule.lastIndex = at
    const match = rule.exec(text)
    if (match !== null) at = rule.lastIndex
    return match
  }
  while (at < text.length) {
    if (text[at] === '\n') {
      line++
      at++
      continue
    }
    if (accept(SPACE) !== null || accept(COMMENT) !== null) continue
    tokens.push(next(accept, line, () => text.slice(at).split(/\s/, 1)[0]!))
  }
  tokens.push({ kind: 'end', text: 'the end', line })
  return tokens
}

function next(accept: (rule: RegExp) => RegExpExecArray | null, line: number, rest: () => string): Token {
  for (const [kind, rule] of RULES) {
    const match = accept(rule)
    if (match !== null) return { kind, text: match[1]!, line }
  }
  throw new PcpError(
    'PM_ERR_BADSTORE',
    `Predicate of hot processes, line ${line}: "${rest()}" is not a valid token`,
  )
}
