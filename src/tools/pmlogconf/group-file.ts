/** Parser of group files: metrics to log together, and a probe for when to log them. pmlogconf(1) */
import { PcpError } from '../../model/errors.ts'

/** State of a group: logged, offered but not logged, or excluded. */
export type State = 'include' | 'available' | 'exclude'

/** Condition on a probed metric. */
export type Condition =
  | { readonly kind: 'exists' | 'values' }
  | { readonly kind: 'compare'; readonly operator: string; readonly value: string }

/** Determines the state of a group. */
export type Rule =
  | { readonly kind: 'force'; readonly state: State }
  | {
      readonly kind: 'probe'
      readonly metric: string
      readonly condition: Condition
      readonly whenTrue: State
      readonly whenFalse: State
      /** As written, without the word `probe`. */
      readonly text: string
    }

/** Contents of a group file. */
export interface Group {
  /** Description of the group. */
  readonly ident: string
  /** An interval, `once` or `default`. */
  readonly delta: string
  /** Derived metrics for the probe. */
  readonly derived: readonly (readonly [name: string, expression: string])[]
  readonly rule: Rule
  /** Metrics in the syntax of pmlogger configurations, and comments between them. */
  readonly metrics: readonly string[]
}

const MAGIC = '#pmlogconf-setup 2.0'
const STATES: readonly string[] = ['include', 'available', 'exclude']
const OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '>', '>=', '<', '<=', '~', '!~'])
const KEYWORD = /^(ident|delta|define|probe|force)(?:\s+(.*))?$/

/** Returns whether a text begins like a group file. */
export function isGroupFile(text: string): boolean {
  return text.startsWith(MAGIC)
}

/** Parses a group file. Throws PM_ERR_GENERIC with a message that begins with `path`. */
export function parseGroup(text: string, path: string): Group {
  const wrong = (what: string): never => {
    throw new PcpError('PM_ERR_GENERIC', `${path} ${what}`)
  }
  const idents: string[] = []
  const derived: (readonly [string, string])[] = []
  const metrics: string[] = []
  let delta = 'default'
  let rule: Rule | undefined
  for (const line of text.split('\n').slice(1)) {
    const trimmed = line.trim()
    if (trimmed === '' || line.startsWith('#')) continue
    if (/^\s/.test(line)) {
      const word = /^(ident|delta|define|probe|force)\s/.exec(trimmed)
      if (word === null) {
        metrics.push(line.trimStart()) // comments too: they are copied to the configuration
        continue
      }
    }
    const [, keyword, rest = ''] = KEYWORD.exec(trimmed) ?? []
    if (keyword === undefined) metrics.push(trimmed)
    else if (keyword === 'ident') idents.push(rest.trim())
    else if (keyword === 'delta') delta = rest.trim()
    else if (keyword === 'define') derived.push(parseDefine(rest, wrong))
    else if (rule !== undefined) wrong('has more than one "probe" or "force" clause')
    else rule = keyword === 'force' ? parseForce(rest.trim(), wrong) : parseProbe(rest.trim(), wrong)
  }
  if (rule === undefined) return wrong('has neither a "probe" nor a "force" clause')
  return { ident: idents.join(' '), delta, derived, rule, metrics }
}

type Wrong = (what: string) => never

function parseDefine(text: string, wrong: Wrong): readonly [string, string] {
  const [, name, expression] = /^(\S+)\s*=\s*(.+)$/.exec(text.trim()) ?? []
  if (name === undefined || expression === undefined)
    return wrong(`define clause "${text}" is not NAME = EXPRESSION`)
  return [name, expression]
}

function parseForce(text: string, wrong: Wrong): Rule {
  return { kind: 'force', state: stateOf(text, 'force', wrong) }
}

function stateOf(text: string, what: string, wrong: Wrong): State {
  return STATES.includes(text) ? (text as State) : wrong(`${what} state "${text}" not recognized`)
}

/** METRIC [CONDITION [? STATE : STATE]] */
function parseProbe(text: string, wrong: Wrong): Rule {
  const [metric = ''] = text.split(/\s+/, 1)
  if (metric === '') wrong('probe clause has no metric')
  const { condition, rest } = parseCondition(text.slice(metric.length).trim(), wrong)
  const base = { kind: 'probe', metric, condition, text } as const
  if (rest === '') return { ...base, whenTrue: 'available', whenFalse: 'exclude' }
  if (!rest.startsWith('?')) wrong(`expected "?" after condition, found "${rest}"`)
  const rule = rest.slice(1).trim()
  const [first = ''] = rule.split(/\s+/, 1)
  const whenTrue = stateOf(first, 'condition true', wrong)
  const tail = rule.slice(first.length).trim()
  if (!tail.startsWith(':')) wrong(`missing ":" in state rule at "${tail}"`)
  const [second = '', ...extra] = tail.slice(1).trim().split(/\s+/)
  const whenFalse = stateOf(second, 'condition false', wrong)
  if (extra.length > 0) wrong(`extra state rule components: "${extra.join(' ')}"`)
  return { ...base, whenTrue, whenFalse }
}

function parseCondition(text: string, wrong: Wrong): { condition: Condition; rest: string } {
  const [word = ''] = text.split(/\s+/, 1)
  const rest = text.slice(word.length).trim()
  if (word === '' || word === '?') return { condition: { kind: 'exists' }, rest: text }
  if (word === 'exists' || word === 'values') return { condition: { kind: word }, rest }
  if (!OPERATORS.has(word)) return wrong(`condition operator "${text}" not recognized`)
  const [, value = '', after = ''] = /^("[^"]*"|\S+)\s*(.*)$/.exec(rest) ?? []
  if (value === '') wrong(`condition operator "${word}" has no value`)
  return {
    condition: { kind: 'compare', operator: word, value: value.replace(/^"(.*)"$/, '$1') },
    rest: after,
  }
}
