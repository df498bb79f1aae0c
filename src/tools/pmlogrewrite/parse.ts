/** Parser of rule files, and of rules for the whole archive and instance domains. pmlogrewrite(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { type Indom, indomStr } from '../../model/ids.ts'
import { type InputContents, namedInstances } from './known.ts'
import { parseLabelRule } from './parse-label.ts'
import { parseMetricRule } from './parse-metric.ts'
import { parseTextRule } from './parse-text.ts'
import { ANY, RuleParser } from './rule-source.ts'
import type { IndomRule, InstanceRule, Rules } from './rules.ts'

/**
 * Adds the rules of a file. Calls `warn` with the line of a rule without effect. Throws PM_ERR_ARG with a message that begins with the
 * line.
 */
export function parseRules(
  text: string,
  known: InputContents,
  rules: Rules,
  warn: (line: number, text: string) => void,
): void {
  const source = new RuleParser(text, known, rules, warn)
  for (;;) {
    const keyword = source.keyword()
    if (keyword === undefined) {
      const token = source.lexer.peek()
      if (token.kind === 'end') return
      throw source.mistake('syntax error', token)
    }
    const parse = RULES[keyword]
    if (parse === undefined) throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    parse(source)
  }
}

const RULES: Readonly<Record<string, (source: RuleParser) => void>> = {
  global: parseGlobal,
  indom: parseIndom,
  metric: parseMetricRule,
  text: parseTextRule,
  label: parseLabelRule,
}

function parseGlobal(source: RuleParser): void {
  source.mark('{')
  while (!source.isMark('}')) {
    const clause = GLOBAL_CLAUSES[source.keyword() ?? '']
    if (clause === undefined) throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    clause(source)
  }
  source.mark('}')
}

const GLOBAL_CLAUSES: Readonly<Record<string, (source: RuleParser) => void>> = {
  hostname(source) {
    source.mark('->', 'Expecting -> in hostname clause')
    const name = source.word('Expecting hostname in hostname clause')
    setGlobal(source, 'hostname', name, source.known.archive.label.hostname)
  },
  timezone: parseTimezone,
  tz: parseTimezone,
  zoneinfo(source) {
    source.mark('->', 'Expecting -> in zoneinfo clause')
    const zone = source.string('Expecting zoneinfo string in zoneinfo clause')
    needVersion3(source, 'zoneinfo')
    setGlobal(source, 'zoneinfo', zone, source.known.archive.label.zoneinfo)
  },
  features(source) {
    source.mark('->', 'Expecting -> in features clause')
    const bits = source.keyword() === 'bits' ? parseBits(source) : parseFeatures(source)
    needVersion3(source, 'features')
    setGlobal(source, 'features', bits, source.known.archive.label.features)
  },
  time(source) {
    source.mark('->', 'Expecting -> in time clause')
    const token = source.lexer.peek()
    const text = source.word(TIME_MISTAKE)
    const delta = parseDelta(text, (problem) => source.warn(problem))
    if (delta === undefined) throw source.mistake(TIME_MISTAKE, token)
    // As in PCP, the line is that of the next token.
    if (source.rules.global.delta !== undefined)
      throw source.mistake('Duplicate global time clause', source.lexer.peek())
    if (delta.sec === 0 && delta.nsec === 0) source.warn('Global time: No change')
    else source.rules.global.delta = delta
  },
}

const TIME_MISTAKE = 'Expecting delta of the form [+-][HH:[MM:]]SS[.d...] in time clause'

function parseTimezone(source: RuleParser): void {
  source.mark('->', 'Expecting -> in timezone clause')
  const zone = source.string('Expecting timezone string in timezone clause')
  setGlobal(source, 'timezone', zone, source.known.archive.label.timezone)
}

function setGlobal<T extends string | number>(
  source: RuleParser,
  name: 'hostname' | 'timezone' | 'zoneinfo' | 'features',
  value: T,
  old: T,
): void {
  const { global } = source.rules
  if (global[name] !== undefined) throw source.mistake(`Duplicate global ${name} clause`)
  if (value === old) source.warn(`Global ${name} (${old}): No change`)
  else Object.assign(global, { [name]: value })
}

function needVersion3(source: RuleParser, clause: string): void {
  if (source.known.version < 3)
    throw source.mistake(`Global ${clause} clause requires output archive version of 3 or greater`)
}

function parseFeatures(source: RuleParser): number {
  const token = source.lexer.peek()
  if (token.kind !== 'word' || !/^\d+$/.test(token.text) || Number(token.text) > 0xffff_ffff)
    throw source.mistake('Expecting features value in features clause', token)
  return Number(source.lexer.next().text)
}

function parseBits(source: RuleParser): number {
  source.lexer.next()
  source.mark('(', 'Expecting ( after "bits" in features clause')
  let bits = 0
  for (;;) {
    const token = source.lexer.peek()
    if (token.kind !== 'word' || !/^\d+$/.test(token.text))
      throw source.mistake('Expecting list of bit numbers after "bits(" in features clause', token)
    source.lexer.next()
    if (Number(token.text) > 31) throw source.mistake(`Bit "${token.text}" not in the range 0..31`)
    bits |= 1 << Number(token.text)
    if (!source.isMark(',')) break
    source.lexer.next()
  }
  source.mark(')', 'Expecting ) after "bits(" in features clause')
  return bits >>> 0
}

/** Parses a duration; negative ones count nanoseconds upwards. Undefined if invalid. */
function parseDelta(text: string, warn: (problem: string) => void): Timestamp | undefined {
  const parts = /^([+-]?)(?:(?:(\d+):)?(\d+):)?(\d+)(?:\.(\d*))?$/.exec(text)
  if (parts === null) return undefined
  const [, sign, hours = '0', minutes = '0', seconds, fraction = ''] = parts
  if (Number(minutes) > 59) warn(`Minutes (${Number(minutes)}) in time clause more than 59`)
  const nsec = Number(fraction.slice(0, 9).padEnd(9, '0'))
  if (Number(seconds) + nsec / 1e9 > 59) {
    const given = nsec === 0 ? Number(seconds) : (Number(seconds) + nsec / 1e9).toFixed(6)
    warn(`Seconds (${given}) in time clause more than 59`)
  }
  const sec = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  if (sign !== '-') return { sec, nsec }
  return nsec === 0 ? { sec: 0 - sec, nsec: 0 } : { sec: -sec - 1, nsec: 1_000_000_000 - nsec }
}

function parseIndom(source: RuleParser): void {
  const [domain, serial] = source.indomParts('Expecting <domain>.<serial> or <domain>.* in indom rule')
  const { known, rules } = source
  let indoms: readonly Indom[]
  if (serial === ANY) indoms = known.indoms.filter((id) => id >>> 22 === domain)
  else {
    const one = source.indomFrom([domain, serial], 0)
    indoms = known.hasIndom(one) ? [one] : []
    if (indoms.length === 0) source.warn(known.unknownIndom(one))
  }
  const chosen = indoms.map((id) => {
    const rule = rules.indoms.get(id) ?? { indom: id, replacements: [], instances: new Map() }
    rules.indoms.set(id, rule)
    return rule
  })
  source.mark('{')
  while (!source.isMark('}')) {
    const clause = INDOM_CLAUSES[source.keyword() ?? '']
    if (clause === undefined) throw source.mistake('syntax error', source.lexer.peek())
    source.lexer.next()
    clause(source, chosen)
  }
  source.mark('}')
}

const INDOM_CLAUSES: Readonly<Record<string, (source: RuleParser, rules: readonly IndomRule[]) => void>> = {
  indom(source, rules) {
    source.mark('->', 'Expecting -> in indom clause')
    const isDuplicate = source.keyword() === 'duplicate'
    if (isDuplicate) source.lexer.next()
    const parts = source.indomParts('Expecting <domain>.<serial> or <domain>.* in indom clause')
    for (const rule of rules) {
      const name = indomStr(rule.indom)
      if (rule.to !== undefined) throw source.mistake(`Duplicate indom clause for indom ${name}`)
      const to = source.indomFrom(parts, rule.indom)
      if (to === rule.indom) source.warn(`Instance domain ${name}: indom: No change`)
      else Object.assign(rule, isDuplicate ? { to, isDuplicate } : { to })
    }
  },
  iname: parseIname,
  inst(source, rules) {
    const old = source.number('Expecting old internal instance identifier in inst clause')
    source.mark('->', 'Expecting -> in inst clause')
    const text = 'Expecting new internal instance identifier or DELETE in inst clause'
    const isDeleted = source.keyword() === 'delete'
    const newId = isDeleted ? source.lexer.next() && undefined : source.number(text)
    for (const rule of rules) {
      const instance = source.known.instances(rule.indom).find(({ id }) => id === old)
      if (instance === undefined)
        source.warn(`Unknown instance ${old} in inst clause for indom ${indomStr(rule.indom)}`)
      else changeInstance(source, rule, instance, newId === undefined ? { isDeleted } : { newId })
    }
  },
}

function parseIname(source: RuleParser, rules: readonly IndomRule[]): void {
  if (source.keyword() === 'replace') {
    source.lexer.next()
    const replacement = source.replacement('iname')
    for (const rule of rules) rule.replacements.push(replacement)
    return
  }
  if (source.keyword() === 'redact') {
    source.lexer.next()
    for (const rule of rules) rule.isRedacted = true
    return
  }
  const old = source.string('Expecting old external instance name string in iname clause')
  source.mark('->', 'Expecting -> in iname clause')
  const isDeleted = source.keyword() === 'delete'
  const text = 'Expecting new external instance name string or DELETE in iname clause'
  const newName = isDeleted ? source.lexer.next() && undefined : source.string(text)
  for (const rule of rules) {
    const instances = namedInstances(source.known.instances(rule.indom), old)
    if (instances.length === 0)
      source.warn(`Unknown instance "${old}" in iname clause for indom ${indomStr(rule.indom)}`)
    for (const one of instances)
      changeInstance(source, rule, one, newName === undefined ? { isDeleted } : { newName })
  }
}

type Change = Pick<InstanceRule, 'newId' | 'newName' | 'isDeleted'>

/** Adds a change of an instance. Throws PM_ERR_ARG for a second change of a kind, or any change besides a deletion. */
function changeInstance(
  source: RuleParser,
  { indom, instances }: IndomRule,
  { id, name }: { id: number; name: string },
  change: Change,
): void {
  const rule = instances.get(id) ?? { id, name }
  const { newId, newName, isDeleted } = rule
  const isSecond =
    (change.newId !== undefined && newId !== undefined) ||
    (change.newName !== undefined && newName !== undefined)
  const isBesideDeletion = change.isDeleted ? instances.has(id) : isDeleted
  if (isSecond || isBesideDeletion) {
    const which = `instance [${id}] "${name}" of indom ${indomStr(indom)}`
    throw source.mistake(`Duplicate or conflicting clauses for ${which}`)
  }
  if (change.newName === name)
    source.warn(`Instance domain ${indomStr(indom)}: Instance: "${name}": No change`)
  else if (change.newId === id) source.warn(`Instance domain ${indomStr(indom)}: Instance: ${id}: No change`)
  else instances.set(id, Object.assign(rule, change))
}
