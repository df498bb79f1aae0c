/** Parser of general rules ("pmieconf-rules"): objects with attributes, and `$names$` in their texts. docs/reference/pmie.md */
import { PcpError } from '../../model/errors.ts'

/** Types of variables. */
export type VariableType =
  | 'rule'
  | 'string'
  | 'double'
  | 'integer'
  | 'unsigned'
  | 'percent'
  | 'hostlist'
  | 'instlist'
  | 'print'
  | 'shell'
  | 'alarm'
  | 'syslog'

/** A variable of a rule, or a global one. */
export interface Variable {
  readonly type: VariableType
  readonly name: string
  readonly value: string
  readonly isEnabled: boolean
  readonly help: string
  /** Whether it is listed. Unlisted ones can be changed, too. */
  readonly isShown: boolean
}

/** A general rule, not yet bound to hosts or instances. */
export interface GeneralRule extends Variable {
  readonly version: number
  readonly predicate: string
  /** Variables for each of whose values a separate rule is generated. */
  readonly enumerate: readonly string[]
  readonly variables: readonly Variable[]
}

/** Contents of rule files. */
export interface RuleSet {
  readonly globals: readonly Variable[]
  readonly rules: readonly GeneralRule[]
}

const TYPES: ReadonlySet<string> = new Set([
  ...['rule', 'string', 'double', 'integer', 'unsigned', 'percent'],
  ...['hostlist', 'instlist', 'print', 'shell', 'alarm', 'syslog'],
])
const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['help', 'modify', 'enabled', 'display', 'default', 'version', 'predicate', 'enumerate', 'summary'],
])
const HEADER = /^#pmieconf-rules\s+1\b/

/** Returns whether a text begins like a rule file. */
export function isRuleFile(text: string): boolean {
  return HEADER.test(text)
}

interface Token {
  readonly text: string
  readonly isQuoted: boolean
  readonly line: number
}

/** A rule during parsing. */
interface OpenRule {
  readonly rule: Omit<GeneralRule, 'variables'>
  readonly variables: Variable[]
}

/** Parses files in order. Throws PcpError with PCP's message for errors. */
export function parseRuleFiles(files: readonly { readonly name: string; readonly text: string }[]): RuleSet {
  const globals: Variable[] = []
  const rules = new Map<string, OpenRule>()
  for (const { name, text } of files) {
    let current: OpenRule | undefined
    const mayStand = (type: string, object: string): boolean =>
      type === 'rule' || object.startsWith('global.') || current !== undefined
    for (const { object, line } of objectsOf(text, name, mayStand)) {
      if (object.type === 'rule') {
        if (rules.has(object.name))
          throw new PcpError(
            'EINVAL',
            `error - rule name "${object.name}" has already been used, duplicate name found in:\n\t"${name}", line ${line}.`,
          )
        current = { rule: object, variables: [] }
        rules.set(object.name, current)
      } else if (object.name.startsWith('global.'))
        globals.push({ ...object, name: object.name.slice('global.'.length) })
      else current!.variables.push(object)
    }
  }
  const sorted = [...rules.values()].sort((a, b) => (a.rule.name < b.rule.name ? -1 : 1))
  return { globals, rules: sorted.map(({ rule, variables }) => ({ ...rule, variables })) }
}

function* objectsOf(
  text: string,
  file: string,
  mayStand: (type: string, object: string) => boolean,
): Generator<{ object: Omit<GeneralRule, 'variables'>; line: number }> {
  const tokens = tokensOf(text)
  const fail = (line: number, expected: string, found: Token | undefined): PcpError =>
    new PcpError(
      'EINVAL',
      `error - file parsing error.\n    line number: ${line} ("${file}")\n    expected: ${expected}\n    found: ${found?.text ?? 'end-of-file'}`,
    )
  const lastLine = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  let at = 0
  const take = (expected: string, isFine: (token: Token) => boolean): Token => {
    const token = tokens[at++]
    if (token === undefined || !isFine(token)) throw fail(token?.line ?? lastLine + 1, expected, token)
    return token
  }
  while (at < tokens.length) {
    const type = take('type keyword', (token) => !token.isQuoted && TYPES.has(token.text))
    const name = take('identifier', (token) => !token.isQuoted && /^[A-Za-z][\w.]*$/.test(token.text))
    if (!mayStand(type.text, name.text))
      throw new PcpError(
        'EINVAL',
        `error - no rule defined, cannot make sense of ${type.text} "${name.text}" without one\n    line number: ${tokens[at]?.line ?? lastLine} ("${file}")\n`,
      )
    const attributes = new Map<string, string>()
    for (;;) {
      const next = tokens[at]
      if (next === undefined) throw fail(lastLine + 1, "attribute or ';'", undefined)
      at++
      if (!next.isQuoted && next.text === ';') break
      if (next.isQuoted || !ATTRIBUTES.has(next.text)) throw fail(next.line, 'attribute keyword', next)
      take('=', (token) => !token.isQuoted && token.text === '=')
      attributes.set(next.text, take('value', () => true).text)
    }
    yield { object: objectOf(type.text as VariableType, name.text, attributes), line: type.line }
  }
}

function objectOf(
  type: VariableType,
  name: string,
  attributes: ReadonlyMap<string, string>,
): Omit<GeneralRule, 'variables'> {
  return {
    type,
    name,
    value: attributes.get(type === 'rule' && attributes.has('summary') ? 'summary' : 'default') ?? '',
    isEnabled: attributes.get('enabled') === 'yes',
    help: attributes.get('help') ?? '',
    isShown: attributes.get('display') !== 'no',
    version: Number(attributes.get('version') ?? 0),
    predicate: attributes.get('predicate') ?? '',
    enumerate: (attributes.get('enumerate') ?? '').split(/\s+/).filter((word) => word !== ''),
  }
}

const TOKEN = /[ \t\r\n]+|#[^\n]*|"((?:[^"\\]|\\[\s\S])*)"|([=;])|([^\s"=;#]+)/gy

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  for (const match of text.matchAll(TOKEN)) {
    const [whole, quoted, sign, word] = match
    if (quoted !== undefined) tokens.push({ text: quoted.replace(/\\(["\\])/g, '$1'), isQuoted: true, line })
    else if (sign !== undefined || word !== undefined)
      tokens.push({ text: sign ?? word!, isQuoted: false, line })
    line += whole.split('\n').length - 1
  }
  return tokens
}
