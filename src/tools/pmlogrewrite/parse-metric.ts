/** Parser of rules for metrics. pmlogrewrite(1) */
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { indomStr, PM_INDOM_NULL, type Pmid, pmidStr, serialOf } from '../../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  semStr,
  typeStr,
} from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { namedInstances } from './known.ts'
import { parseUnits } from './parse-units.ts'
import { ANY, type PmidParts, type RuleParser } from './rule-source.ts'
import { changesMetric, type MetricRule, type PickKind, type Reduction } from './rules.ts'

const NUMBER_FORMS = '<domain>.<cluster>.<item> or <domain>.<cluster>.* or <domain>.*.*'
const METRIC_MISTAKE = `Expecting metric name or ${NUMBER_FORMS} in metric rule`
/** Keywords, which cannot be new names without quotes. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'delete dupok extraunits if iname indom inst name null output pmid rescale sem type units value'.split(' '),
)

/** Parses a rule after its keyword. Throws PM_ERR_ARG. */
export function parseMetricRule(source: RuleParser): void {
  const { metrics } = source.rules
  const found = findMetrics(source)
  // The report lists the last added rule first, so this gives the order of the metadata.
  for (const { desc, name } of found.toReversed())
    if (!metrics.has(desc.pmid)) metrics.set(desc.pmid, { desc, name, replacements: [] })
  const rules = found.map(({ desc }) => metrics.get(desc.pmid)!)
  source.mark('{')
  while (!source.isMark('}')) {
    const clause = CLAUSES[source.keyword() ?? '']
    if (clause === undefined) throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    clause(source, rules)
  }
  source.mark('}')
}

/** A metric selected by a rule. */
export interface FoundMetric {
  readonly desc: MetricDesc
  readonly name: string
}

/** Parses an identifier and finds its metrics; warns if none match. Throws PM_ERR_ARG for an invalid identifier. */
export function findMetrics(source: RuleParser): FoundMetric[] {
  const { known } = source
  const parts = source.pmidParts()
  if (parts === undefined) return findNamed(source)
  return matching(source, parts, [...known.descs.keys()]).map((id) => ({
    desc: known.descs.get(id)!,
    name: known.nameOf(id) ?? pmidStr(id),
  }))
}

/** Like `findMetrics`, but also finds PMIDs without a descriptor among `others`. */
export function findPmids(source: RuleParser, others: readonly Pmid[]): Pmid[] {
  const parts = source.pmidParts()
  if (parts === undefined) return findNamed(source).map(({ desc }) => desc.pmid)
  return matching(source, parts, [...new Set([...source.known.descs.keys(), ...others])])
}

function matching(source: RuleParser, parts: PmidParts, ids: readonly Pmid[]): Pmid[] {
  const found = ids.filter((id) => source.pmidFrom(parts, id) === id)
  if (found.length === 0 && !parts.includes(ANY)) {
    const reason = new PcpError('PM_ERR_PMID', '').text
    source.warn(`Metric ${pmidStr(source.pmidFrom(parts, 0))} pmNameID: ${reason}`)
  }
  return found
}

function findNamed(source: RuleParser): FoundMetric[] {
  const { known } = source
  const token = source.lexer.peek()
  if (token.kind !== 'word' || !/^[A-Za-z][A-Za-z0-9_.=-]*$/.test(token.text))
    throw source.mistake(METRIC_MISTAKE, token)
  const name = source.lexer.next().text
  try {
    return [{ desc: known.metric(name), name }]
  } catch (error) {
    source.warn(`Metric: ${name}: ${PcpError.from(error).text}`)
    return []
  }
}

type Clause = (source: RuleParser, rules: readonly MetricRule[]) => void

const CLAUSES: Readonly<Record<string, Clause>> = {
  delete(source, rules) {
    for (const rule of rules) {
      if (changesMetric(rule))
        throw source.mistake(`Conflicting delete and other clauses for metric ${rule.name}`)
      rule.isDeleted = true
    }
  },
  pmid(source, rules) {
    source.mark('->')
    const parts = source.pmidParts()
    if (parts === undefined)
      throw source.mistake(`Expecting ${NUMBER_FORMS} in pmid clause`, source.lexer.peek())
    for (const rule of rules) {
      check(source, rule, 'pmid', rule.pmid)
      const to = source.pmidFrom(parts, rule.desc.pmid)
      if (to === rule.desc.pmid) source.warn(`${titleOf(rule)}: pmid: No change`)
      else rule.pmid = to
    }
  },
  name: parseName,
  type: parseType,
  indom: parseIndom,
  sem(source, rules) {
    source.mark('->')
    const sem = SEMANTICS[source.keyword() ?? '']
    if (sem === undefined)
      throw source.mistake('Expecting XXX (from PM_SEM_XXX) in sem clause', source.lexer.peek())
    source.lexer.next()
    for (const rule of rules) {
      check(source, rule, 'sem', rule.sem)
      if (sem === rule.desc.sem) source.warn(`${titleOf(rule)}: sem: ${semStr(sem)}: No change`)
      else rule.sem = sem
    }
  },
  units: (source, rules) => parseUnitsClause(source, rules, false),
  extraunits: (source, rules) => parseUnitsClause(source, rules, true),
  value(source, rules) {
    if (source.keyword() === 'replace') source.lexer.next()
    const replacement = source.replacement('value')
    for (const rule of rules) {
      const type = rule.type ?? rule.desc.type
      if (type !== PM_TYPE_STRING)
        throw source.mistake(
          `Type (PM_TYPE_${typeStr(type)}) must be STRING in value clause for metric ${rule.name}`,
        )
      rule.replacements.push(replacement)
    }
  },
}

const SEMANTICS: Readonly<Record<string, number>> = {
  counter: PM_SEM_COUNTER,
  instant: PM_SEM_INSTANT,
  discrete: PM_SEM_DISCRETE,
}

/** Types for conditional conversions. */
const TYPES: Readonly<Record<string, number>> = {
  '32': PM_TYPE_32,
  u32: PM_TYPE_U32,
  '64': PM_TYPE_64,
  u64: PM_TYPE_U64,
  float: PM_TYPE_FLOAT,
  double: PM_TYPE_DOUBLE,
}

/** Throws PM_ERR_ARG if the metric is deleted or already changed in this way. */
function check(source: RuleParser, { name, isDeleted }: MetricRule, clause: string, value: unknown): void {
  if (isDeleted) throw source.mistake(`Conflicting ${clause} clause for deleted metric ${name}`)
  if (value !== undefined) throw source.mistake(`Duplicate ${clause} clause for metric ${name}`)
}

function titleOf({ name, desc }: MetricRule): string {
  return `Metric: ${name} (${pmidStr(desc.pmid)})`
}

function parseName(source: RuleParser, rules: readonly MetricRule[]): void {
  source.mark('->')
  const token = source.lexer.peek()
  const valid = token.kind === 'word' ? (/^[A-Za-z][A-Za-z0-9_.]*/.exec(token.text)?.[0] ?? '') : ''
  if (valid === '' || KEYWORDS.has(valid.toLowerCase()))
    throw source.mistake('Expecting metric name in iname clause', token)
  if (valid !== token.text) throw source.mistake(`Unexpected character '${token.text[valid.length]}'`, token)
  source.lexer.next()
  const mayExist = source.keyword() === 'dupok'
  if (mayExist) source.lexer.next()
  for (const rule of rules) {
    check(source, rule, 'name', rule.newName)
    if (valid === rule.name) {
      source.warn(`${titleOf(rule)}: name: No change`)
      continue
    }
    const other = mayExist ? undefined : source.known.pmidOf(valid)
    if (other !== undefined)
      throw source.mistake(`Metric name ${valid} already assigned for PMID ${pmidStr(other)}`)
    rule.newName = valid
  }
}

function parseType(source: RuleParser, rules: readonly MetricRule[]): void {
  let old: number | undefined
  const isConditional = source.keyword() === 'if'
  if (isConditional) {
    source.lexer.next()
    old = TYPES[source.keyword() ?? '']
    if (old === undefined)
      throw source.mistake('Expecting XXX (from PM_TYPE_XXX) after if in type clause', source.lexer.peek())
    source.lexer.next()
  }
  source.mark('->')
  const type = source.keyword() === 'string' ? PM_TYPE_STRING : TYPES[source.keyword() ?? '']
  if (type === undefined)
    throw source.mistake('Expecting XXX (from PM_TYPE_XXX) in type clause', source.lexer.peek())
  source.lexer.next()
  for (const rule of rules) {
    check(source, rule, 'type', rule.type)
    const from = rule.desc.type
    if (old !== undefined && old !== from) {
      const problem = `type: PM_TYPE_${typeStr(from)}: No conditional change to PM_TYPE_${typeStr(type)}`
      source.warn(`${titleOf(rule)}: ${problem}`)
    } else if (from === type) source.warn(`${titleOf(rule)}: type: PM_TYPE_${typeStr(type)}: No change`)
    else if (!isNumeric(from)) throw source.mistake(`Old type (PM_TYPE_${typeStr(from)}) must be numeric`)
    else rule.type = type
  }
}

/** Returns whether a type is numeric. */
export function isNumeric(type: number): boolean {
  return type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE
}

function parseIndom(source: RuleParser, rules: readonly MetricRule[]): void {
  source.mark('->')
  const text = 'Expecting <domain>.<serial> or NULL in indom clause'
  const isNull = source.keyword() === 'null'
  const parts = isNull ? source.lexer.next() && undefined : source.indomParts(text)
  const pick = parsePick(source)
  for (const rule of rules) {
    check(source, rule, 'indom', rule.indom)
    const { indom: old, type } = rule.desc
    if (parts !== undefined && parts[1] === ANY && old === PM_INDOM_NULL) throw source.mistake(text)
    const to = parts === undefined ? PM_INDOM_NULL : source.indomFrom(parts, serialOf(old))
    if (to === old) {
      source.warn(`${titleOf(rule)}: indom: ${indomStr(old)}: No change`)
      continue
    }
    if (pick !== undefined && COMPUTED.has(pick.kind) && !isNumeric(type)) {
      const problem = 'OUTPUT option MIN, MAX, AVG or SUM requires type to be numeric'
      throw source.mistake(`${problem}, not PM_TYPE_${typeStr(type)}`)
    }
    rule.indom = to
    if (pick !== undefined) rule.pick = knownPick(source, pick, old === PM_INDOM_NULL ? to : old)
    else if (isNull || old === PM_INDOM_NULL) rule.pick = { kind: 'first' }
  }
}

const COMPUTED: ReadonlySet<PickKind> = new Set(['min', 'max', 'sum', 'avg'])
const PICKS: ReadonlySet<string> = new Set(['first', 'last', 'min', 'max', 'sum', 'avg'])
const PICK_MISTAKE =
  'Expecting FIRST or LAST or INST or INAME or MIN or MAX or AVG for OUTPUT instance option'

function parsePick(source: RuleParser): Reduction | undefined {
  if (source.keyword() !== 'output') {
    source.lexer.lookAhead()
    return undefined
  }
  source.lexer.next()
  const kind = source.keyword()
  if (kind !== undefined && PICKS.has(kind)) {
    source.lexer.next()
    return { kind: kind as PickKind }
  }
  if (kind !== 'inst' && kind !== 'iname') throw source.mistake(PICK_MISTAKE, source.lexer.peek())
  source.lexer.next()
  if (kind === 'inst') return { kind, inst: source.number(PICK_MISTAKE) }
  return { kind: 'inst', name: source.string(PICK_MISTAKE) }
}

/** Looks up the instance of a pick by name. */
function knownPick(source: RuleParser, pick: Reduction, indom: number): Reduction {
  const { name } = pick
  if (name === undefined) return pick
  const [found] = namedInstances(source.known.instances(indom), name)
  return found === undefined ? pick : { kind: 'inst', inst: found.id }
}

function parseUnitsClause(source: RuleParser, rules: readonly MetricRule[], hasExtra: boolean): void {
  source.mark('->')
  const units = parseUnits(source, hasExtra)
  const isRescaled = source.keyword() === 'rescale'
  if (isRescaled) source.lexer.next()
  else source.lexer.lookAhead()
  for (const rule of rules) {
    check(source, rule, 'units', rule.units)
    const { units: old } = rule.desc
    if (units === old) {
      source.warn(`${titleOf(rule)}: units: ${unitsStr(old)}: No change`)
      continue
    }
    rule.units = units
    if (!isRescaled) continue
    if (hasSameDimension(units, old)) rule.isRescaled = true
    else source.warn(`${titleOf(rule)}: Dimension changed, cannot rescale`)
  }
}

/** Returns whether units differ only in scale. */
export function hasSameDimension(a: number, b: number): boolean {
  const EXTRA_UNIT = 0xf8
  return a >>> 20 === b >>> 20 && (a & EXTRA_UNIT) === (b & EXTRA_UNIT)
}
