/** Combines all rules into changes per metric and domain. pmlogrewrite(1) */
import { PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { LABEL_INDOM, LABEL_INSTANCES } from '../../model/labels.ts'
import { type InputContents, isSameInstance, type KnownInstance } from './known.ts'
import { hasSameDimension } from './parse-metric.ts'
import { changesInstances, type IndomRule, type MetricRule, type Rules } from './rules.ts'

/** Combined rules, checked against each other and the archive. */
export interface Plan {
  readonly known: InputContents
  readonly rules: Rules
  /** Changed metrics, including those with changed instances only. */
  readonly metrics: ReadonlyMap<Pmid, MetricPlan>
  /** Domains no longer used by any metric of the output; duplicated ones are kept. */
  readonly dropped: ReadonlySet<Indom>
}

/** Changes of a metric and its values. */
export interface MetricPlan {
  readonly rule: MetricRule
  /** Its domain in the output. */
  readonly indom: Indom
  /** Changed instances of its domain in the input. */
  readonly instances: IndomRule | undefined
}

/**
 * Combines rules. `rescales` is -s. Calls `warn` for unknown instances. Throws PM_ERR_GENERIC with the complete message for rules that
 * contradict each other, or that refer to a domain missing in the output.
 */
export function makePlan(
  known: InputContents,
  rules: Rules,
  rescales: boolean,
  warn: (text: string) => void,
): Plan {
  for (const rule of rules.indoms.values()) checkInstances(rule, known.instances(rule.indom))
  const metrics = new Map<Pmid, MetricPlan>()
  for (const desc of known.descs.values()) {
    const indomRule = rules.indoms.get(desc.indom)
    const moved = indomRule?.isDuplicate ? undefined : indomRule?.to
    const own = rules.metrics.get(desc.pmid)
    if (own === undefined && moved === undefined && !changesInstances(indomRule)) continue
    const rule = own ?? { desc, name: known.nameOf(desc.pmid) ?? '', replacements: [] }
    if (own !== undefined) checkMetric(own, indomRule?.to, known, rules, warn)
    if (rescales && rule.units !== undefined && hasSameDimension(rule.units, desc.units))
      rule.isRescaled = true
    const instances = changesInstances(indomRule) ? indomRule : undefined
    metrics.set(desc.pmid, { rule, indom: rule.indom ?? moved ?? desc.indom, instances })
  }
  checkOthers(known, rules)
  return { known, rules, metrics, dropped: droppedIndoms(known, metrics, rules) }
}

/** Returns the instances in the output. */
function changed({ instances }: IndomRule, list: readonly KnownInstance[]): KnownInstance[] {
  const result: KnownInstance[] = []
  for (const { id, name } of list) {
    const rule = instances.get(id)
    if (!rule?.isDeleted) result.push({ id: rule?.newId ?? id, name: rule?.newName ?? name })
  }
  return result
}

/** Throws PM_ERR_GENERIC if changes give two instances the same id or equivalent names. */
function checkInstances(rule: IndomRule, list: readonly KnownInstance[]): void {
  if (rule.instances.size === 0) return
  const named = [...rule.instances.values()].some(({ newName }) => newName !== undefined)
  const result = changed(rule, list)
  const byId = new Map<number, string>()
  for (const { id, name } of result) {
    const other = byId.get(id)
    if (other !== undefined)
      throw mistake(
        `Duplicate instance id ${id} ("${other}" and "${name}") for indom ${indomStr(rule.indom)}`,
      )
    byId.set(id, name)
  }
  if (!named) return
  for (const { newId, id, newName } of rule.instances.values()) {
    if (newName === undefined) continue
    const own = newId ?? id
    const other = result.find((one) => one.id !== own && isSameInstance(one.name, newName))
    if (other === undefined) continue
    const both = `"${newName}" (${own}) and "${other.name}" (${other.id})`
    throw mistake(`Duplicate instance name ${both} for indom ${indomStr(rule.indom)}`)
  }
}

function checkMetric(
  rule: MetricRule,
  moved: Indom | undefined,
  known: InputContents,
  rules: Rules,
  warn: (text: string) => void,
): void {
  const { indom: to, desc, name, pick } = rule
  if (to === undefined) return
  const old = indomStr(desc.indom)
  if (moved !== undefined && moved !== to) {
    const both = `${indomStr(to)} from metric clause, ${indomStr(moved)} from indom clause`
    throw mistake(`Conflicting indom change for metric ${name} (${both})`)
  }
  if (to !== PM_INDOM_NULL && !isInOutput(to, known, rules))
    throw mistake(`New indom (${indomStr(to)}) for metric ${name} is not in the output archive`)
  if (pick === undefined) return
  const which = pick.name === undefined ? String(pick.inst) : `"${pick.name}"`
  const hasIt = (indom: Indom): boolean => known.instances(indom).some(({ id }) => id === pick.inst)
  if (pick.kind === 'inst' && desc.indom !== PM_INDOM_NULL && !hasIt(desc.indom))
    warn(`Instance ${which} from OUTPUT clause not found in old indom ${old}`)
  if (to === PM_INDOM_NULL || !known.hasIndom(to)) return
  const inst = pick.inst ?? 0
  const isNamed = pick.kind === 'inst' || pick.kind === 'first'
  if (pick.name !== undefined || (isNamed && !known.instances(to).some(({ id }) => id === inst)))
    warn(
      `Instance ${pick.name === undefined ? inst : which} from OUTPUT clause not found in new indom ${indomStr(to)}`,
    )
}

function checkOthers(known: InputContents, rules: Rules): void {
  for (const { kind, id, to } of rules.texts) {
    if (kind !== 'indom' || to === undefined) continue
    const moved = rules.indoms.get(id)?.to
    if (moved !== undefined && moved !== to) {
      const both = `${indomStr(to)} from text clause, ${indomStr(moved)} from indom clause`
      throw mistake(`Conflicting indom change for help text (${both})`)
    }
    if (!isInOutput(to, known, rules))
      throw mistake(`New indom (${indomStr(to)}) for help text is not in the output archive`)
  }
  for (const { level, to } of rules.labels) {
    if ((level !== LABEL_INDOM && level !== LABEL_INSTANCES) || to === undefined) continue
    const what = `${level === LABEL_INDOM ? 'InDom' : 'Instances'} ${indomStr(to)}`
    if (!isInOutput(to, known, rules))
      throw mistake(`New indom (${indomStr(to)}) for label set ${what} is not in the output archive`)
  }
}

/** Returns whether the output has a domain, according to the rules for domains. */
function isInOutput(indom: Indom, known: InputContents, rules: Rules): boolean {
  for (const { to } of rules.indoms.values()) if (to === indom) return true
  const own = rules.indoms.get(indom)
  return known.hasIndom(indom) && (own?.to === undefined || own.isDuplicate === true)
}

function droppedIndoms(
  known: InputContents,
  metrics: ReadonlyMap<Pmid, MetricPlan>,
  rules: Rules,
): Set<Indom> {
  const dropped = new Set<Indom>()
  for (const { indom } of known.descs.values()) dropped.add(indom)
  for (const { pmid, indom } of known.descs.values()) {
    const plan = metrics.get(pmid)
    if (!plan?.rule.isDeleted) dropped.delete(plan?.indom ?? indom)
  }
  for (const { indom, isDuplicate } of rules.indoms.values()) if (isDuplicate) dropped.delete(indom)
  return dropped
}

function mistake(text: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', text)
}
