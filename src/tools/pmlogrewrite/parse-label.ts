/** Parser of rules for labels. pmlogrewrite(1) */
import { clusterId, clusterOf, domainOf, indomStr, type Pmid, pmid, pmidStr } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../model/labels.ts'
import { type InputContents, namedInstances } from './known.ts'
import { findPmids } from './parse-metric.ts'
import { ANY, type Part, type RuleParser } from './rule-source.ts'
import { changesLabels, type LabelRule } from './rules.ts'

const NO_ID = 0xffffffff

/** Object of a rule, with or without labels. */
interface Target {
  readonly level: number
  readonly ids: readonly number[]
}

/** Parses a rule after its keyword. Throws PM_ERR_ARG. */
export function parseLabelRule(source: RuleParser): void {
  const find = TARGETS[source.keyword() ?? '']
  if (find === undefined) throw source.mistake('syntax error', source.lexer.peek())
  source.lexer.next()
  const { level, ids } = find(source)
  const inst = level === LABEL_INSTANCES ? instance(source, ids) : undefined
  const name = labelText(source)
  const value = labelValue(source)
  const selection = { name, value }
  const insts = inst === 'none' ? [] : [inst]
  const selected = ids.flatMap((id) => insts.map((one) => ({ level, id, inst: one, ...selection })))
  source.mark('{')
  // Objects without labels accept only `new` clauses.
  const rules = selected.map((target) => ({ target, known: hasLabels(source.known, target) }))
  const old = rules.filter(({ known }) => known).map(({ target }) => ruleFor(source, target))
  while (!source.isMark('}')) {
    const keyword = source.keyword() ?? ''
    const clause = CLAUSES[keyword]
    if (clause === undefined && keyword !== 'new') throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    if (clause === undefined)
      addLabel(
        source,
        rules.map(({ target }) => target),
      )
    else clause(source, old)
  }
  source.mark('}')
}

type Selection = Pick<LabelRule, 'level' | 'id' | 'inst' | 'name' | 'value'>

function hasLabels(known: InputContents, { level, id }: Selection): boolean {
  return known.labels.some((labels) => labels.level === level && labels.id === id)
}

function ruleFor({ rules }: RuleParser, selection: Selection): LabelRule {
  const same = rules.labels.find(
    (rule) =>
      rule.level === selection.level &&
      rule.id === selection.id &&
      rule.inst === selection.inst &&
      rule.name === selection.name &&
      rule.value === selection.value,
  )
  if (same !== undefined) return same
  const rule: LabelRule = { ...selection, added: [] }
  rules.labels.unshift(rule)
  return rule
}

const TARGETS: Readonly<Record<string, (source: RuleParser) => Target>> = {
  context: () => ({ level: LABEL_CONTEXT, ids: [NO_ID] }),
  domain(source) {
    const domain = source.number('Expecting <domain> in label rule')
    const ids = knownIds(source, LABEL_DOMAIN, domainOf)
    return { level: LABEL_DOMAIN, ids: ids.includes(domain) ? [domain] : [] }
  },
  cluster(source) {
    const [domain, cluster] = clusterParts(source, 'Expecting <domain>.<cluster> or <domain>.* in label rule')
    const isMeant = (id: Pmid): boolean =>
      domainOf(id) === domain && (cluster === ANY || clusterOf(id) === cluster)
    return { level: LABEL_CLUSTER, ids: knownIds(source, LABEL_CLUSTER, clusterId).filter(isMeant) }
  },
  item: (source) => ({ level: LABEL_ITEM, ids: findPmids(source, labelledIds(source, LABEL_ITEM)) }),
  indom: (source) => ({ level: LABEL_INDOM, ids: indomIds(source, LABEL_INDOM) }),
  instances: (source) => ({ level: LABEL_INSTANCES, ids: indomIds(source, LABEL_INSTANCES) }),
}

/** Returns ids at a level: those derived from metrics, and others with labels. */
function knownIds(source: RuleParser, level: number, idOf: (id: Pmid) => number): number[] {
  return [...new Set([...[...source.known.descs.keys()].map(idOf), ...labelledIds(source, level)])]
}

function labelledIds(source: RuleParser, level: number): number[] {
  return source.known.labels.filter((labels) => labels.level === level).map(({ id }) => id)
}

function clusterParts(source: RuleParser, text: string): readonly [domain: number, cluster: Part] {
  const token = source.lexer.peek()
  const parts = token.kind === 'word' ? /^(\d+)\.(\d+|\*)$/.exec(token.text) : null
  if (parts === null) throw source.mistake(text, token)
  source.lexer.next()
  const domain = Number(parts[1])
  const cluster = parts[2] === ANY ? ANY : Number(parts[2])
  if (domain < 1 || domain > 510) throw source.mistake(`Illegal domain field (${domain}) for cluster`)
  if (cluster !== ANY && cluster > 4095)
    throw source.mistake(`Illegal cluster field (${cluster}) for cluster`)
  return [domain, cluster]
}

function indomIds(source: RuleParser, level: number): number[] {
  const parts = source.indomParts('Expecting <domain>.<serial> or <domain>.* in label rule')
  const ids = new Set([...source.known.indoms, ...labelledIds(source, level)])
  return [...ids].filter((id) => source.indomFrom(parts, id) === id)
}

/** Parses an instance's id or name, or an asterisk; 'none' if no domain has it. */
function instance(source: RuleParser, ids: readonly number[]): number | undefined | 'none' {
  const { kind, text } = source.lexer.peekEscaped()
  if (kind === 'word' && text === ANY) {
    source.lexer.next()
    return undefined
  }
  if (kind === 'word') return source.number('Expecting instance name or number in label rule')
  if (kind !== 'string') return undefined
  source.lexer.next()
  for (const id of ids) {
    const [found] = namedInstances(source.known.instances(id), text)
    if (found !== undefined) return found.id
    source.warn(`Instance domain ${indomStr(id)}: no instance "${text}" found`)
  }
  return 'none'
}

/** Parses a string or an asterisk; undefined for an asterisk. */
function labelText(source: RuleParser): string | undefined {
  const { kind, text } = source.lexer.peekEscaped()
  if (kind !== 'string' && !(kind === 'word' && text === ANY)) return undefined
  source.lexer.next()
  return kind === 'string' ? text : undefined
}

/** Parses a JSON value or an asterisk; undefined for an asterisk. */
function labelValue(source: RuleParser): string | undefined {
  const value = source.jsonValueIfAny()
  if (value === undefined && source.keyword() === ANY) source.lexer.next()
  return value
}

type Clause = (source: RuleParser, rules: readonly LabelRule[]) => void

const CLAUSES: Readonly<Record<string, Clause>> = {
  delete(source, rules) {
    for (const rule of rules) {
      if (changesLabels(rule))
        throw source.mistake(`Conflicting delete and other clauses for ${nameOf(rule)}`)
      rule.isDeleted = true
    }
  },
  label(source, rules) {
    source.mark('->')
    const name = source.escapedString('Expecting new label name string in label clause')
    for (const rule of rules) {
      check(source, rule, 'label', rule.newName)
      if (rule.name === name) source.warn(`Label for ${targetOf(rule)}: label: No change`)
      else rule.newName = name
    }
  },
  value(source, rules) {
    source.mark('->')
    const value = source.jsonValue('Expecting new label value string in value clause')
    for (const rule of rules) {
      check(source, rule, 'value', rule.newValue)
      if (rule.value === value) source.warn(`Label for ${targetOf(rule)}: value: No change`)
      else rule.newValue = value
    }
  },
  domain(source, rules) {
    source.mark('->')
    const domain = source.number('Expecting <domain> in domain clause')
    for (const rule of rules) move(source, rule, LABEL_DOMAIN, 'domain', domain)
  },
  cluster(source, rules) {
    source.mark('->')
    const [domain, cluster] = clusterParts(
      source,
      'Expecting <domain>.<cluster> or <domain>.* in cluster clause',
    )
    for (const rule of rules) {
      const to = pmid(domain, cluster === ANY ? clusterOf(rule.id) : cluster, 0)
      move(source, rule, LABEL_CLUSTER, 'cluster', to)
    }
  },
  item(source, rules) {
    source.mark('->')
    const parts = source.pmidParts()
    if (parts === undefined)
      throw source.mistake('Expecting <domain>.<cluster>.<item> in item clause', source.lexer.peek())
    for (const rule of rules) move(source, rule, LABEL_ITEM, 'item', source.pmidFrom(parts, rule.id))
  },
  indom: (source, rules) => moveIndom(source, rules, LABEL_INDOM, 'indom'),
  instances: (source, rules) => moveIndom(source, rules, LABEL_INSTANCES, 'instances'),
}

function moveIndom(source: RuleParser, rules: readonly LabelRule[], level: number, clause: string): void {
  source.mark('->')
  const parts = source.indomParts(`Expecting <domain>.<serial> or <domain>.* in ${clause} clause`)
  for (const rule of rules) move(source, rule, level, clause, source.indomFrom(parts, rule.id))
}

function move(source: RuleParser, rule: LabelRule, level: number, clause: string, to: number): void {
  if (rule.level !== level) throw source.mistake('syntax error')
  check(source, rule, clause, rule.to)
  if (to === rule.id) source.warn(`Label for ${targetOf(rule)}: ${clause}: No change`)
  else rule.to = to
}

function addLabel(source: RuleParser, targets: readonly Selection[]): void {
  const name = source.escapedString('Expecting new label name string in new clause')
  const value = source.jsonValue('Expecting new label value string in new clause')
  if (targets.some((target) => target.name !== undefined || target.value !== undefined))
    source.warn(
      'The target label name and value must both not be specified for a NEW label and will be ignored',
    )
  for (const { level, id, inst } of targets) {
    const rule = ruleFor(source, { level, id, inst, name: undefined, value: undefined })
    check(source, rule, 'new', undefined)
    rule.added.push({ name, value })
  }
}

/** Throws PM_ERR_ARG if the labels are deleted or already changed in this way. */
function check(source: RuleParser, rule: LabelRule, clause: string, value: unknown): void {
  if (rule.isDeleted) throw source.mistake(`Conflicting ${clause} clause for deleted ${nameOf(rule)}`)
  if (value !== undefined) throw source.mistake(`Duplicate ${clause} clause for ${nameOf(rule)}`)
}

function nameOf(rule: LabelRule): string {
  return rule.level === LABEL_CONTEXT ? 'context label' : `label for ${targetOf(rule)}`
}

function targetOf({ level, id }: LabelRule): string {
  switch (level) {
    case LABEL_CONTEXT:
      return 'context'
    case LABEL_DOMAIN:
      return `domain ${id}`
    case LABEL_CLUSTER:
      return `cluster ${domainOf(id)}.${clusterOf(id)}`
    case LABEL_ITEM:
      return `metric ${pmidStr(id)}`
    case LABEL_INDOM:
      return `indom ${indomStr(id)}`
    default:
      return `the instances of indom ${indomStr(id)}`
  }
}
