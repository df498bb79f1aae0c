/** Report of the changes by rules. pmlogrewrite(1) */
import { encodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { clusterOf, domainOf, indomStr, PM_INDOM_NULL, pmidStr } from '../../model/ids.ts'
import { labelSetOf } from '../../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../model/labels.ts'
import { semStr, typeStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { movedGroups } from './labels.ts'
import type { MetricPlan, Plan } from './plan.ts'
import {
  changesIndom,
  changesInstances,
  changesLabels,
  changesMetric,
  changesText,
  type IndomRule,
  type InstanceRule,
  type LabelRule,
  type MetricRule,
  type TextRule,
} from './rules.ts'

/** Returns whether the rules change anything. */
export function changesAnything({ known, rules, metrics }: Plan): boolean {
  return (
    Object.keys(rules.global).length > 0 ||
    known.version !== known.archive.label.version ||
    [...metrics.values()].some(changesMetricPlan) ||
    [...rules.indoms.values()].some(changesIndom) ||
    rules.texts.some(changesText) ||
    rules.labels.some(changesLabels)
  )
}

function changesMetricPlan({ rule, indom, instances }: MetricPlan): boolean {
  return changesMetric(rule) || indom !== rule.desc.indom || changesInstances(instances)
}

/** Returns the complete report. */
export function summary(plan: Plan): string {
  const blocks = [...indomBlocks(plan), ...metricBlocks(plan), ...textBlocks(plan)]
  blocks.push(...labelBlocks(plan))
  const head = `PCP Archive Log Rewrite Specifications Summary\n${globalLines(plan)}`
  if (blocks.length === 0 && Object.keys(plan.rules.global).length === 0) return `${head}No changes\n`
  return `${head}${blocks.map((block) => `\n${block}`).join('')}`
}

function globalLines({ known, rules }: Plan): string {
  const { label } = known.archive
  const { hostname, timezone, zoneinfo, features, delta } = rules.global
  let text = ''
  if (hostname !== undefined) text += `Hostname:\t${label.hostname} -> ${hostname}\n`
  if (timezone !== undefined) text += `Timezone:\t${label.timezone} -> ${timezone}\n`
  if (zoneinfo !== undefined) text += `Zoneinfo:\t${label.zoneinfo} -> ${zoneinfo}\n`
  if (features !== undefined) text += `Features:\t${label.features} -> ${features}\n`
  if (delta !== undefined) text += `Delta:\t\t-> ${deltaStr(delta)}\n`
  return text
}

function deltaStr({ sec, nsec }: Timestamp): string {
  const isNegative = sec < 0
  const whole = isNegative && nsec > 0 ? -sec - 1 : Math.abs(sec)
  const nanos = isNegative && nsec > 0 ? 1_000_000_000 - nsec : nsec
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const clock = `${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}`
  return `${isNegative ? '-' : ''}${clock}.${String(nanos).padStart(9, '0')}`
}

function indomBlocks({ known, rules }: Plan): string[] {
  return [...rules.indoms.values()].filter(changesIndom).map((rule) => {
    let block = `Instance Domain: ${indomStr(rule.indom)}\n`
    if (rule.to !== undefined)
      block += `pmInDom:\t-> ${rule.isDuplicate ? 'DUPLICATE ' : ''}${indomStr(rule.to)}\n`
    for (const { id } of known.instances(rule.indom)) block += instanceLine(rule.instances.get(id))
    return `${block}${replacementLines(rule)}`
  })
}

function instanceLine(rule: InstanceRule | undefined): string {
  if (rule === undefined) return ''
  const { id, name, newId = id, newName = name } = rule
  const after = rule.isDeleted ? 'DELETE' : `[${newId}] "${newName}"`
  return `Instance:\t[${id}] "${name}" -> ${after}\n`
}

function replacementLines({ replacements, isRedacted }: IndomRule): string {
  const lines = replacements.map(({ pattern, text }) => `Instances:\t/${pattern.source}/ -> "${text}"\n`)
  if (isRedacted) lines.push('Instances:\t-> REDACT\n')
  return lines.join('')
}

/** Reports metrics that change with their domain, then those with rules, most recent first. */
function metricBlocks({ rules, metrics }: Plan): string[] {
  const all = [...metrics.values()]
  const withDomain = all.filter(({ rule }) => !rules.metrics.has(rule.desc.pmid))
  const own = [...rules.metrics.keys()].reverse().flatMap((pmid) => metrics.get(pmid) ?? [])
  const changed = own.filter(changesMetricPlan)
  return [...withDomain, ...changed].map(metricBlock)
}

function metricBlock({ rule, indom, instances }: MetricPlan): string {
  const { desc, name, isDeleted, pmid, newName, type, sem, units, isRescaled, replacements } = rule
  let block = `Metric: ${name} (${pmidStr(desc.pmid)})\n`
  if (isDeleted) return `${block}DELETE\n`
  if (pmid !== undefined) block += `pmID:\t\t${pmidStr(desc.pmid)} -> ${pmidStr(pmid)}\n`
  if (newName !== undefined) block += `Name:\t\t${name} -> ${newName}\n`
  if (type !== undefined) block += `Type:\t\t${typeStr(desc.type)} -> ${typeStr(type)}\n`
  if (indom !== desc.indom)
    block += `InDom:\t\t${indomStr(desc.indom)} -> ${indomStr(indom)}\n${pickLine(rule)}`
  if (instances !== undefined) block += `Inst Changes:\t<- InDom ${indomStr(instances.indom)}\n`
  if (sem !== undefined) block += `Semantics:\t${semStr(desc.sem)} -> ${semStr(sem)}\n`
  if (units !== undefined) {
    block += `Units:\t\t${unitsStr(desc.units)} -> ${unitsStr(units)}${isRescaled ? ' (rescale)' : ''}\n`
  }
  for (const { pattern, text } of replacements) block += `Value:\t\t/${pattern.source}/ -> "${text}"\n`
  return block
}

const PICKED = {
  first: 'first',
  last: 'last',
  min: 'smallest',
  max: 'largest',
  sum: 'sum',
  avg: 'average',
  inst: 'first',
} as const

function pickLine({ desc, pick }: MetricRule): string {
  if (pick === undefined) return ''
  const inst = pick.name === undefined ? String(pick.inst ?? 0) : `"${pick.name}"`
  if (desc.indom === PM_INDOM_NULL)
    return `Output:\t\t${PICKED[pick.kind]} and only value (output instance ${inst})\n`
  if (pick.kind === 'inst') return `Output:\t\tvalue for instance ${inst}\n`
  const isComputed = pick.kind === 'sum' || pick.kind === 'avg'
  return `Output:\t\t${PICKED[pick.kind]} value${isComputed ? ' (output instance 0)' : ''}\n`
}

/** Reports texts with rules, then those that move with their object. */
function textBlocks({ known, rules, metrics }: Plan): string[] {
  const own = rules.texts.filter(changesText)
  const textOf = (rule: TextRule): string => known.archive.metadata.text(rule) ?? ''
  const blocks = own.map((rule) => textBlock(rule, textOf(rule)))
  for (const { kind, id, level } of known.texts) {
    if (own.some((rule) => rule.kind === kind && rule.id === id && rule.level === level)) continue
    const to = kind === 'metric' ? metrics.get(id)?.rule.pmid : rules.indoms.get(id)?.to
    if (to !== undefined) blocks.push(textBlock({ kind, id, level, content: undefined, to }, ''))
  }
  return blocks
}

function textBlock({ kind, id, level, isDeleted, to, text }: TextRule, old: string): string {
  const str = kind === 'metric' ? pmidStr : indomStr
  const title = `${level === 'oneline' ? 'One Line' : 'full'} ${kind === 'metric' ? 'pmID' : 'pmInDom'}`
  let block = `Help Text: ${title} (${str(id)})\n`
  if (isDeleted) return `${block}DELETE\n`
  if (to !== undefined) block += `ID:\t\t${str(id)} -> ${str(to)}\n`
  if (text !== undefined) block += `Text:\t\t"${old}"\n\t\t->\n\t\t"${text}"\n`
  return block
}

/** Reports labels that move with their object, last found first, then those with rules. */
function labelBlocks({ known, rules, metrics }: Plan): string[] {
  const own = rules.labels.filter(changesLabels)
  const groups = movedGroups({ known, metrics })
  const moved = known.labels.flatMap(({ level, id }) => {
    if (own.some((rule) => rule.level === level && rule.id === id && rule.to !== undefined)) return []
    let targets: Iterable<number | undefined> = groups.get(`${level} ${id}`) ?? []
    if (level === LABEL_ITEM) targets = [metrics.get(id)?.rule.pmid]
    if (level === LABEL_INDOM || level === LABEL_INSTANCES) targets = [rules.indoms.get(id)?.to]
    return [...targets].flatMap((to) =>
      to === undefined || to === id
        ? []
        : [`Label: ${titleOf(level, id)}\nID:\t\t${idStr(level, id)} -> ${idStr(level, to)}\n`],
    )
  })
  return [...moved, ...own.flatMap(ruleBlocks)]
}

function ruleBlocks(rule: LabelRule): string[] {
  const blocks: string[] = []
  const { level, id, inst, name, value, isDeleted, to, newName, newValue, added } = rule
  let title = `Label: ${titleOf(level, id)}`
  if (level === LABEL_INSTANCES) title += inst === undefined ? ', Instances: ALL' : `, Instance: ${inst}`
  if (name !== undefined) title += `, Label: "${name}"`
  if (value !== undefined) title += `, Value: ${value}`
  let changes = isDeleted ? 'DELETE\n' : ''
  if (to !== undefined) changes += `ID:\t\t${idStr(level, id)} -> ${idStr(level, to)}\n`
  if (newName !== undefined)
    changes += `Label:\t\t${name === undefined ? 'ALL' : `"${name}"`} -> "${newName}"\n`
  if (newValue !== undefined) changes += `Value:\t\t${value ?? 'ALL'} -> ${newValue}\n`
  if (changes !== '') blocks.push(`${title}\n${changes}`)
  if (added.length > 0) blocks.push(`${title}\nNEW:\n${newLabels(rule)}`)
  return blocks
}

/** Formats new labels like a dump of the output. */
function newLabels({ level, id, inst, added }: LabelRule): string {
  const { json, labels } = labelSetOf(added.map((label) => ({ ...label, flags: level })))
  const whose = level === LABEL_INSTANCES ? `InDom ${indomStr(id)}[${inst ?? '*'}]` : titleOf(level, id)
  let text = `    ${whose} labels (${encodeText(json).length} bytes): ${json}\n`
  let at = 2
  labels.forEach(({ name, value }, i) => {
    const [nameSize, valueSize] = [encodeText(name).length, encodeText(value).length]
    const valueAt = at + nameSize + 2
    text += `        [${i}] name(${at},${nameSize}) : value(${valueAt},${valueSize}) [${FLAGS.get(level)}]\n`
    at = valueAt + valueSize + 2
  })
  return text
}

const FLAGS: ReadonlyMap<number, string> = new Map([
  [LABEL_CONTEXT, 'context'],
  [LABEL_DOMAIN, 'domain'],
  [LABEL_CLUSTER, 'cluster'],
  [LABEL_ITEM, 'pmid'],
  [LABEL_INDOM, 'indom'],
  [LABEL_INSTANCES, 'instances'],
])

function titleOf(level: number, id: number): string {
  if (level === LABEL_CONTEXT) return 'Context'
  return level === LABEL_INSTANCES || level === LABEL_INDOM ? `InDom ${indomStr(id)}` : idStr(level, id)
}

function idStr(level: number, id: number): string {
  switch (level) {
    case LABEL_DOMAIN:
      return `Domain ${id}`
    case LABEL_CLUSTER:
      return `Cluster ${domainOf(id)}.${clusterOf(id)}`
    case LABEL_INDOM:
      return `Indom ${indomStr(id)}`
    case LABEL_INSTANCES:
      return `Instances ${indomStr(id)}`
    default:
      return `PMID ${pmidStr(id)}`
  }
}
