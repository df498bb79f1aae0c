/** From a table to an agent that can be opened, with everything checked that can be checked once. docs/agents.md */
import { PcpError } from '../model/errors.ts'
import { checkOwnOptions, type DaemonOption } from './daemon-options.ts'
import type { AgentEnv, AgentSpec, AgentTables, IndomSpec, MetricSpec } from './define.ts'
import { SEMANTICS, TYPES, unitsWord } from './type-tables.ts'

/** A checked agent: what collectors and daemons open. */
export interface AgentDefinition {
  /** Name without 'pmda'. */
  readonly name: string
  /** The domain it has unless a configuration says otherwise. */
  readonly domain: number
  /** Its daemon becomes the user of PCP_USER when root starts it. */
  readonly needsNoRoot: boolean
  /** Options of its daemon besides those that every daemon has. */
  readonly options: readonly DaemonOption[]
  /** Tables for one life of the agent; `openAgent` checks those that a function made. */
  readonly open: (env: AgentEnv) => AgentTables
}

/**
 * Defines an agent. Tables given directly are checked here, those of an `open` function when the agent is opened; an agent
 * may have both, and then has the metrics, labels and hooks of both.
 * PM_ERR_GENERIC says what in the table is wrong and how to mend it.
 */
export function defineAgent(spec: AgentSpec): AgentDefinition {
  const { name, domain, needsNoRoot = false, options = [], open, ...tables } = spec
  if (!/^[A-Za-z]\w*$/.test(name))
    throw wrong(`Agent name "${name}" must be a letter followed by letters, digits or _`)
  if (!Number.isInteger(domain) || domain < 0 || domain > 510)
    throw wrong(`Agent ${name}: domain ${domain} must be a whole number from 0 to 510`)
  const problem = checkOwnOptions(options)
  if (problem !== undefined) throw wrong(`Agent ${name}: ${problem}`)
  if (open !== undefined && Object.keys(tables).length === 0)
    return { name, domain, needsNoRoot, options, open }
  const own: AgentTables = { metrics: {}, ...tables }
  checkTables(name, own)
  if (open === undefined) return { name, domain, needsNoRoot, options, open: () => own }
  const joined = (opened: AgentTables): AgentTables => joinTables(name, own, opened)
  return {
    name,
    domain,
    needsNoRoot,
    options,
    open: (env) =>
      joined(open({ ...env, replaceTables: (replacement) => env.replaceTables(joined(replacement)) })),
  }
}

/**
 * Joins the tables beside `open` with those it returned: metrics, roots and instance domains of both. PM_ERR_GENERIC for
 * anything that both have, because one of them would be lost.
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

/** Checks the tables of an agent. PM_ERR_GENERIC names the metric or the instance domain and what to do. */
export function checkTables(agent: string, tables: AgentTables): void {
  const taken = new Map<number, string>()
  const serials = new Map<number, IndomSpec>()
  for (const [name, metric] of Object.entries(tables.metrics)) {
    const where = `Agent ${agent}, metric ${name}`
    if (!NAME.test(name))
      throw wrong(`${where}: each part of a name is a letter followed by letters, digits or _`)
    if ('alias' in metric) {
      checkAlias(where, metric.alias, tables)
      continue
    }
    checkMetric(where, metric)
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
    throw wrong(`${where}: there is no metric "${alias}" to name`)
}

function checkMetric(where: string, metric: MetricSpec): void {
  const { cluster = 0, item } = metric
  if (!Number.isInteger(cluster) || cluster < 0 || cluster > 4095)
    throw wrong(`${where}: cluster ${cluster} must be a whole number from 0 to 4095`)
  if (!Number.isInteger(item) || item < 0 || item > 1023)
    throw wrong(`${where}: item ${item} must be a whole number from 0 to 1023`)
  if (metric.help.trim() === '') throw wrong(`${where}: help is empty: say in one line what the value tells`)
  // Agents in plain JavaScript have no compiler that knows these words.
  if (!Object.hasOwn(TYPES, metric.type)) throw wrong(`${where}: ${oneOf('type', metric.type, TYPES)}`)
  if (!Object.hasOwn(SEMANTICS, metric.sem)) throw wrong(`${where}: ${oneOf('sem', metric.sem, SEMANTICS)}`)
  unitsWord(where, metric.units)
}

function checkIndom(where: string, indom: IndomSpec, serials: Map<number, IndomSpec>): void {
  const { serial } = indom
  const known = serials.get(serial)
  if (known === indom) return
  if (known !== undefined)
    throw wrong(`${where}: instance domain ${serial} is declared twice: use one object in all its metrics`)
  if (!Number.isInteger(serial) || serial < 0 || serial > 0x3fffff)
    throw wrong(`${where}: serial ${serial} of the instance domain must be a whole number from 0 to 4194303`)
  if (indom.help.trim() === '')
    throw wrong(
      `${where}: help of instance domain ${serial} is empty: say in one line what its instances are`,
    )
  if (typeof indom.instances !== 'function') checkStatic(where, indom.instances)
  serials.set(serial, indom)
}

function checkStatic(where: string, instances: { readonly [name: string]: number }): void {
  const seen = new Set<number>()
  for (const [name, id] of Object.entries(instances)) {
    if (!Number.isInteger(id) || id < 0 || id > 0x7fffffff)
      throw wrong(`${where}: id ${id} of instance "${name}" must be a whole number from 0 to 2147483647`)
    if (seen.has(id)) throw wrong(`${where}: instance "${name}" has id ${id}, which another instance has`)
    seen.add(id)
  }
}

function oneOf(key: string, word: string, words: { readonly [word: string]: number }): string {
  return `${key} "${word}" must be one of ${Object.keys(words).join(', ')}`
}

function wrong(message: string): PcpError {
  return new PcpError('PM_ERR_GENERIC', message)
}
