/** Requests of control clients: enquiries and changes of logging states. docs/formats/wire.md §3.13, §8 */
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, PM_IN_NULL, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import type { Instances } from '../model/source.ts'
import { PM_TYPE_U32 } from '../model/types.ts'
import { makeSet } from '../model/value-writer.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import { ctime } from '../sys/log.ts'
import {
  type LogControl,
  type LogControlSet,
  PM_LOG_ADVISORY,
  PM_LOG_ENQUIRE,
  PM_LOG_MANDATORY,
  PM_LOG_MAYBE,
  PM_LOG_OFF,
  PM_LOG_ON,
} from '../wire/log-control.ts'
import { LoggedMetric } from './logged-metric.ts'
import type { Logger } from './logger.ts'
import { ADVISORY_OFF, type LoggingState, type StateRequest } from './states.ts'

/** Bits of an instance's state word; the higher bits hold the interval. */
const IS_ON = 1
const IS_MANDATORY = 2
const IS_AVAILABLE = 4
const IS_LOGGED = 8
const DELTA_SHIFT = 4
/** Limit of instances in a reply: 8 MiB. */
const MAX_WORDS = 1 << 20

const STATES: Readonly<Record<number, StateRequest['state']>> = {
  [PM_LOG_OFF]: 'off',
  [PM_LOG_MAYBE]: 'maybe',
  [PM_LOG_ON]: 'on',
}

/**
 * Applies or only evaluates a client's request and returns the resulting state. `tell` logs changes. Throws PM_ERR_IPC for
 * undefined control or state numbers.
 */
export async function handleControlRequest(
  logger: Logger,
  request: LogControl,
  tell: (text: string) => void,
  from: string,
): Promise<ValueSet[]> {
  const wish = requestedChange(request, logger)
  const story =
    wish === undefined ? [] : [`\n${ctime(Date.now())}`, `pmlc request from ${from}: ${titleOf(wish)}`]
  const sets: ValueSet[] = []
  const lookup = await Lookup.of(logger, request, wish !== undefined)
  for (const set of request.sets) {
    const metric = await lookup.metric(set)
    if (isError(metric)) {
      sets.push(emptySet(set.pmid, metric.status))
      continue
    }
    if (wish !== undefined) {
      logger.metrics.set(set.pmid, metric)
      story.push(...(await apply(logger, metric, set, wish)))
    }
    sets.push(await describe(lookup, metric, set, wish === undefined))
  }
  if (wish !== undefined) {
    tell(story.join('\n'))
    logger.replan()
  }
  return sets
}

/** Returns the requested change; undefined for an enquiry. */
function requestedChange({ control, state, deltaMs }: LogControl, logger: Logger): StateRequest | undefined {
  if (control === PM_LOG_ENQUIRE) return undefined
  const what = STATES[state]
  const isMandatory = control === PM_LOG_MANDATORY
  if (
    what === undefined ||
    (!isMandatory && control !== PM_LOG_ADVISORY) ||
    (what === 'maybe' && !isMandatory)
  )
    throw new PcpError('PM_ERR_IPC', `A control request of control ${control}, state ${state}`)
  const wish: StateRequest = { control: isMandatory ? 'mandatory' : 'advisory', state: what, deltaMs }
  return what === 'on' && deltaMs === 0 ? { ...wish, round: logger.nextRound() } : wish
}

/**
 * Collector data for one request. A request may hold thousands of metrics, from any account, so descriptors are fetched together
 * and each instance domain once.
 */
class Lookup {
  readonly #logger: Logger
  readonly #needsNames: boolean
  readonly #descs: ReadonlyMap<Pmid, Outcome<MetricDesc>>
  readonly #instances = new Map<Indom, Promise<Instances>>()
  #words = 0

  private constructor(logger: Logger, needsNames: boolean, descs: ReadonlyMap<Pmid, Outcome<MetricDesc>>) {
    this.#logger = logger
    this.#needsNames = needsNames
    this.#descs = descs
  }

  static async of(logger: Logger, { sets }: LogControl, needsNames: boolean): Promise<Lookup> {
    const unknown = [...new Set(sets.map(({ pmid }) => pmid))].filter((pmid) => !logger.metrics.has(pmid))
    const descs = new Map<Pmid, Outcome<MetricDesc>>()
    if (unknown.length > 0) {
      const found = await logger.context.descs(unknown).catch((error: unknown) => PcpError.from(error))
      for (const [i, pmid] of unknown.entries())
        descs.set(pmid, isError(found) ? found : (found[i] ?? new PcpError('PM_ERR_PMID')))
    }
    return new Lookup(logger, needsNames, descs)
  }

  async metric({ pmid }: LogControlSet): Promise<LoggedMetric | PcpError> {
    const known = this.#logger.metrics.get(pmid)
    if (known !== undefined) return known
    const desc = this.#descs.get(pmid)!
    if (isError(desc)) return desc
    try {
      const [name = ''] = this.#needsNames ? await this.#logger.context.namesOf(pmid) : []
      return new LoggedMetric(name, desc)
    } catch (error) {
      return PcpError.from(error)
    }
  }

  instances(indom: Indom): Promise<Instances> {
    let found = this.#instances.get(indom)
    if (found === undefined) {
      found = this.#logger.context.instances(indom)
      this.#instances.set(indom, found)
    }
    return found
  }

  /** Counts instances of the reply. Throws PM_ERR_TOOBIG above the limit. */
  count(instances: number): void {
    this.#words += instances
    if (this.#words > MAX_WORDS) throw new PcpError('PM_ERR_TOOBIG')
  }
}

/** Applies a request to its instances, or to all; returns log lines with the results. */
async function apply(
  logger: Logger,
  metric: LoggedMetric,
  set: LogControlSet,
  wish: StateRequest,
): Promise<string[]> {
  const { pmid, indom } = metric.desc
  const names = await withFallback(logger.context.namesOf(pmid), [metric.name])
  const title = `  metric: ${names.join(' or ')}`
  const isWhole = set.status <= 0 || indom === PM_INDOM_NULL
  if (isWhole) metric.states.requestAll(wish)
  else for (const inst of set.inst) metric.states.requestOne(inst, wish)
  if (indom === PM_INDOM_NULL) return [`${title}${failureOf(metric.states.whole, wish)}`]
  const known = await withFallback(logger.context.instances(indom), { indom, ids: [], names: [] })
  const ids = isWhole ? known.ids : [...set.inst]
  const lines = ids.map((id) => {
    const mode = metric.states.modeOf(id)
    // Like PCP's logger, which no longer knows the names of instances that are not logged.
    const isHeld = mode !== undefined && (mode.isOn || mode.isMandatory)
    const name = isHeld ? known.names[known.ids.indexOf(id)] : undefined
    return `    instance: ${name ?? `#${id}`}${failureOf(mode, wish)}`
  })
  return [title, ...lines]
}

/** Returns ` [request failed]` if the state is not the requested one. */
function failureOf(mode: LoggingState | undefined, { control, state, deltaMs }: StateRequest): string {
  const { isMandatory, isOn, deltaMs: actual } = mode ?? ADVISORY_OFF
  const isDone =
    state === 'maybe'
      ? !isMandatory && actual === 0 // for PCP's logger and pmlc, an advisory state that stays on is a failure
      : isMandatory === (control === 'mandatory') &&
        isOn === (state === 'on') &&
        (!isOn || actual === deltaMs)
  return isDone ? '' : ' [request failed]'
}

/** Returns a fallback on errors; only for data that is merely displayed. */
async function withFallback<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer
  } catch {
    return otherwise
  }
}

async function describe(
  lookup: Lookup,
  metric: LoggedMetric,
  { pmid, status, inst }: LogControlSet,
  isEnquiry: boolean,
): Promise<ValueSet> {
  const { indom } = metric.desc
  let instances: readonly number[]
  try {
    if (indom === PM_INDOM_NULL) instances = [PM_IN_NULL]
    else if (status > 0) instances = [...inst]
    else {
      const { ids } = await lookup.instances(indom)
      instances = isEnquiry ? [...new Set([...ids, ...metric.instances])] : ids
    }
  } catch (error) {
    return emptySet(pmid, PcpError.from(error).status)
  }
  lookup.count(instances.length)
  const words = instances.map((id) => wordOf(metric, metric.states.modeOf(id), id))
  return makeSet(pmid, PM_TYPE_U32, instances, words)
}

function wordOf(metric: LoggedMetric, mode: LoggingState | undefined, inst: number): number {
  let bits = 0
  if (mode?.isOn === true) bits |= IS_ON
  if (mode?.isMandatory === true) bits |= IS_MANDATORY
  if (metric.isAvailable(inst)) bits |= IS_AVAILABLE
  if (metric.isLogged(inst)) bits |= IS_LOGGED
  return bits + (mode?.deltaMs ?? 0) * 2 ** DELTA_SHIFT
}

function titleOf({ control, state, deltaMs }: StateRequest): string {
  if (state !== 'on') return `${control} ${state}`
  return deltaMs === 0 ? `${control} on once` : `${control} on ${(deltaMs / 1000).toFixed(1)} sec`
}
