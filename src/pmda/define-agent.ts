/** Checks the table of an agent and turns it into a definition that can be opened. docs/reference/agent-toolkit.md */
import { renameFields } from '../base/deprecated.ts'
import { PcpError } from '../model/errors.ts'
import { checkOwnOptions, type DaemonOption } from './daemon-options.ts'
import { checkFields, checkInstance, checkRecord } from './declared-fields.ts'
import type { AgentEnv, AgentSpec, AgentTables, IndomSpec } from './define.ts'
import { OLD_INDOM_FIELDS, OLD_METRIC_FIELDS } from './deprecated.ts'
import { unitsWord } from './type-tables.ts'

/** A checked agent, opened by collectors and daemons. */
export interface AgentDefinition {
  /** Name without 'pmda'. */
  readonly name: string
  /** Default domain; a configuration may change it. */
  readonly domain: number
  /** The agent states no domain: `domain` is only used until a collector has chosen one. */
  readonly isDomainFree?: true
  /** When root starts its daemon, it switches to the user PCP_USER. */
  readonly needsNoRoot: boolean
  /** The agent's own daemon options. */
  readonly options: readonly DaemonOption[]
  /** Returns the tables of one opened agent; `openAgent` checks tables returned by a function. */
  readonly open: (env: AgentEnv) => AgentTables
}

/** Domain of an agent that states none, outside of a collector: the last of the range for agents of a site. */
const FREE_DOMAIN = 510

/**
 * Defines an agent. Tables given directly are checked here, those returned by `open` when the agent is opened; an agent
 * may have both and then has the metrics, labels and hooks of both. EINVAL names a missing or wrong field.
 */
export function defineAgent(spec: AgentSpec): AgentDefinition {
  checkRecord('defineAgent', 'its argument', spec)
  const { name, domain = FREE_DOMAIN, needsNoRoot = false, options = [], open, ...tables } = spec
  checkFields(typeof name === 'string' ? `Agent ${name}` : 'Agent', 'agent', spec)
  for (const [i, option] of options.entries()) checkFields(`Agent ${name}, option ${i + 1}`, 'option', option)
  const problem = checkOwnOptions(options)
  if (problem !== undefined) throw wrong(`Agent ${name}: ${problem}`)
  const isFree = spec.domain === undefined ? { isDomainFree: true as const } : {}
  const common = { name, domain, ...isFree, needsNoRoot, options }
  if (open !== undefined && Object.keys(tables).length === 0) return { ...common, open }
  const own: AgentTables =
    open === undefined ? (tables as AgentTables) : { ...tables, metrics: tables.metrics ?? {} }
  checkTables(name, own)
  if (open === undefined) return { ...common, open: () => own }
  const joined = (opened: AgentTables): AgentTables => {
    checkShape(name, opened)
    return joinTables(name, own, opened)
  }
  return {
    ...common,
    open: (env) =>
      joined(open({ ...env, replaceTables: (replacement) => env.replaceTables(joined(replacement)) })),
  }
}

/**
 * Joins the tables given directly with those returned by `open`. EINVAL for anything defined in both, because one
 * definition would be lost.
 */
function joinTables(agent: string, own: AgentTables, opened: AgentTables): AgentTables {
  const twice = (what: string): PcpError =>
    wrong(`Agent ${agent}: ${what} is given beside \`open\` and by it: give it in one of them`)
  for (const name of Object.keys(opened.metrics))
    if (Object.hasOwn(own.metrics, name)) throw twice(`metric ${name}`)
  const joined: { -readonly [K in keyof AgentTables]: AgentTables[K] } = {
    ...own,
    ...opened,
    metrics: { ...own.metrics, ...opened.metrics },
  }
  const added: readonly (keyof AgentTables)[] = ['metrics', 'dynamicRoots', 'indoms']
  for (const key of Object.keys(own) as (keyof AgentTables)[])
    if (opened[key] === undefined) Object.assign(joined, { [key]: own[key] })
    else if (!added.includes(key)) throw twice(key)
  joined.dynamicRoots = [...(own.dynamicRoots ?? []), ...(opened.dynamicRoots ?? [])]
  joined.indoms = [...(own.indoms ?? []), ...(opened.indoms ?? [])]
  return joined
}

/** Checks the types of the tables, not yet their metrics and instance domains. */
function checkShape(agent: string, tables: AgentTables): void {
  checkRecord(`Agent ${agent}`, 'its tables', tables)
  checkFields(`Agent ${agent}`, 'tables', tables)
}

/** Checks the tables of an agent. EINVAL names the metric or instance domain, the field, and what it must be. */
export function checkTables(agent: string, tables: AgentTables): void {
  checkShape(agent, tables)
  const taken = new Map<number, string>()
  const serials = new Map<number, IndomSpec>()
  for (const [name, metric] of Object.entries(tables.metrics)) {
    const where = `Agent ${agent}, metric ${name}`
    if (!NAME.test(name))
      throw wrong(`${where}: each part of a name is a letter followed by letters, digits or _`)
    checkRecord(`Agent ${agent}`, `metric ${name}`, metric)
    if ('alias' in metric) {
      checkFields(where, 'alias', metric)
      checkAlias(where, metric.alias, tables)
      continue
    }
    renameFields(metric, OLD_METRIC_FIELDS)
    checkFields(where, 'metric', metric)
    unitsWord(where, metric.units)
    const key = (metric.cluster ?? 0) * 1024 + metric.item
    const other = taken.get(key)
    if (other !== undefined)
      throw wrong(`${where}: cluster ${metric.cluster ?? 0} item ${metric.item} belongs to ${other} already`)
    taken.set(key, name)
    if (metric.indom !== undefined) checkIndom(where, metric.indom, serials)
  }
  for (const indom of tables.indoms ?? []) checkIndom(`Agent ${agent}`, indom, serials)
  for (const root of tables.dynamicRoots ?? [])
    if (!NAME.test(root) || Object.hasOwn(tables.metrics, root))
      throw wrong(`Agent ${agent}: dynamic root "${root}" must be a name above names of metrics`)
}

const NAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/

function checkAlias(where: string, alias: string | number, tables: AgentTables): void {
  if (typeof alias === 'number') return
  const target = Object.hasOwn(tables.metrics, alias) ? tables.metrics[alias] : undefined
  if (target === undefined || 'alias' in target)
    throw wrong(`${where}: the aliased metric "${alias}" does not exist`)
}

function checkIndom(where: string, indom: IndomSpec, serials: Map<number, IndomSpec>): void {
  const { serial } = indom
  const known = serials.get(serial)
  if (known === indom) return
  if (known !== undefined)
    throw wrong(`${where}: instance domain ${serial} is declared twice: use one object in all its metrics`)
  const here = `${where}, instance domain ${serial ?? ''}`.trimEnd()
  renameFields(indom, OLD_INDOM_FIELDS)
  checkFields(here, 'indom', indom)
  if (typeof indom.instances !== 'function') checkStatic(here, indom.instances)
  serials.set(serial, indom)
}

function checkStatic(where: string, instances: { readonly [name: string]: number }): void {
  const seen = new Set<number>()
  for (const [name, id] of Object.entries(instances)) {
    checkInstance(where, name, id)
    if (seen.has(id)) throw wrong(`${where}: instance "${name}" has id ${id}, which another instance has`)
    seen.add(id)
  }
}

function wrong(message: string): PcpError {
  return new PcpError('EINVAL', message)
}
