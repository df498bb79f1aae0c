/** Parser of rules for help texts. pmlogrewrite(1) */
import { indomStr, pmidStr } from '../../model/ids.ts'
import type { KnownText } from './known.ts'
import { findMetrics } from './parse-metric.ts'
import { ANY, type RuleParser } from './rule-source.ts'
import { changesText, type TextRule } from './rules.ts'

const INDOM_MISTAKE = 'Expecting <domain>.<serial> or <domain>.* in text rule'

/** Parses a rule after its keyword. Throws PM_ERR_ARG. */
export function parseTextRule(source: RuleParser): void {
  const kind = source.keyword()
  if (kind !== 'metric' && kind !== 'indom') throw source.mistake('syntax error', source.lexer.peek())
  source.lexer.next()
  const ids = kind === 'metric' ? metricIds(source) : indomIds(source)
  const levels = textLevels(source)
  let content: string | undefined
  if (source.lexer.peekEscaped().kind === 'string') content = source.lexer.next().text
  const { known, rules } = source
  const chosen = known.texts
    .filter((text) => text.kind === kind && ids.has(text.id) && levels.includes(text.level))
    .map((text) => ruleFor(rules.texts, text, content))
  source.mark('{')
  while (!source.isMark('}')) {
    const clause = CLAUSES[source.keyword() ?? '']
    if (clause === undefined) throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    clause(source, chosen)
  }
  source.mark('}')
}

function metricIds(source: RuleParser): ReadonlySet<number> {
  return new Set(findMetrics(source).map(({ desc }) => desc.pmid))
}

function indomIds(source: RuleParser): ReadonlySet<number> {
  const parts = source.indomParts(INDOM_MISTAKE)
  const ids = source.known.texts.filter(
    ({ kind, id }) => kind === 'indom' && source.indomFrom(parts, id) === id,
  )
  if (parts[1] !== ANY && !source.known.hasIndom(source.indomFrom(parts, 0)))
    source.warn(source.known.unknownIndom(source.indomFrom(parts, 0)))
  return new Set(ids.map(({ id }) => id))
}

function textLevels(source: RuleParser): readonly KnownText['level'][] {
  const levels = LEVELS[source.keyword() ?? '']
  if (levels === undefined) return ['oneline']
  source.lexer.next()
  return levels
}

const LEVELS: Readonly<Record<string, readonly KnownText['level'][]>> = {
  oneline: ['oneline'],
  help: ['help'],
  all: ['oneline', 'help'],
  '*': ['oneline', 'help'],
}

/** Returns the rule for a text with this content; a new one is added in front of the others. */
function ruleFor(rules: TextRule[], { kind, id, level }: KnownText, content: string | undefined): TextRule {
  const known = rules.find(
    (rule) => rule.kind === kind && rule.id === id && rule.level === level && rule.content === content,
  )
  if (known !== undefined) return known
  const rule: TextRule = { kind, id, level, content }
  rules.unshift(rule)
  return rule
}

type Clause = (source: RuleParser, rules: readonly TextRule[]) => void

const CLAUSES: Readonly<Record<string, Clause>> = {
  delete(source, rules) {
    for (const rule of rules) {
      if (changesText(rule)) throw source.mistake(`Conflicting delete and other clauses for ${nameOf(rule)}`)
      rule.isDeleted = true
    }
  },
  text(source, rules) {
    source.mark('->')
    const text = source.escapedString('Expecting new text string in text clause')
    for (const rule of rules) {
      check(source, rule, 'text', rule.text)
      rule.text = text
    }
  },
  metric(source, rules) {
    source.mark('->')
    const parts = source.pmidParts()
    const forms = '<domain>.<cluster>.<item> or <domain>.<cluster>.* or <domain>.*.*'
    if (parts === undefined) throw source.mistake(`Expecting ${forms} in metric clause`, source.lexer.peek())
    for (const rule of rules) {
      if (rule.kind !== 'metric') throw source.mistake(`Conflicting metric clause for ${nameOf(rule)}`)
      move(source, rule, 'metric', source.pmidFrom(parts, rule.id))
    }
  },
  indom(source, rules) {
    source.mark('->')
    const parts = source.indomParts('Expecting <domain>.<serial> or <domain>.* in indom clause')
    for (const rule of rules) {
      if (rule.kind !== 'indom') throw source.mistake(`Conflicting indom clause for ${nameOf(rule)}`)
      move(source, rule, 'indom', source.indomFrom(parts, rule.id))
    }
  },
}

function move(source: RuleParser, rule: TextRule, clause: string, to: number): void {
  check(source, rule, clause, rule.to)
  if (to !== rule.id) rule.to = to
  else if (clause === 'metric') source.warn(`Text for metric: ${pmidStr(to)}: metric: No change`)
  else source.warn(`Text for instance domain ${indomStr(to)}: indom: No change`)
}

/** Throws PM_ERR_ARG if the text is deleted or already changed in this way. */
function check(source: RuleParser, rule: TextRule, clause: string, value: unknown): void {
  if (rule.isDeleted) throw source.mistake(`Conflicting ${clause} clause for deleted ${nameOf(rule)}`)
  if (value !== undefined) throw source.mistake(`Duplicate ${clause} clause for ${nameOf(rule)}`)
}

function nameOf({ kind, id, level }: TextRule): string {
  const what = kind === 'metric' ? `metric ${pmidStr(id)}` : `indom ${indomStr(id)}`
  return `${level === 'oneline' ? 'one line' : 'full'} text for ${what}`
}
