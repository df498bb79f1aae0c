/** What a control client may ask of a logger: states of metrics, and changes of them. docs/formats/wire.md §3.13, §8 */
import { isError, PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
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
import { ADVISORY_OFF, type Mode, type ModeRequest } from './states.ts'

/** Bits of the word that describes an instance; the interval stands above them. */
const IS_ON = 1
const IS_MANDATORY = 2
const IS_AVAILABLE = 4
const IS_LOGGED = 8
const DELTA_SHIFT = 4

const STATES: Readonly<Record<number, ModeRequest['state']>> = {
  [PM_LOG_OFF]: 'off',
  [PM_LOG_MAYBE]: 'maybe',
  [PM_LOG_ON]: 'on',
}

/**
 * Does what a client asks, or only looks, and describes what holds now. `tell` hears of changes. PM_ERR_IPC for numbers
 * that mean nothing.
 */
export async function answerControl(
  logger: Logger,
  request: LogControl,
  tell: (text: string) => void,
  from: string,
): Promise<ValueSet[]> {
  const wish = wishOf(request)
  const story =
    wish === undefined ? [] : [`\n${ctime(Date.now())}`, `pmlc request from ${from}: ${titleOf(wish)}`]
  const sets: ValueSet[] = []
  for (const set of request.sets) {
    const metric = await metricOf(logger, set)
    if (isError(metric)) {
      sets.push(emptySet(set.pmid, metric.status))
      continue
    }
    if (wish !== undefined) {
      logger.metrics.set(set.pmid, metric)
      story.push(...(await apply(logger, metric, set, wish)))
    }
    sets.push(await describe(logger, metric, set, wish === undefined))
  }
  if (wish !== undefined) {
    tell(story.join('\n'))
    logger.replan()
  }
  return sets
}

/** The change a request asks for; undefined when it only asks. */
function wishOf({ control, state, deltaMs }: LogControl): ModeRequest | undefined {
  if (control === PM_LOG_ENQUIRE) return undefined
  const what = STATES[state]
  const isMandatory = control === PM_LOG_MANDATORY
  if (
    what === undefined ||
    (!isMandatory && control !== PM_LOG_ADVISORY) ||
    (what === 'maybe' && !isMandatory)
  )
    throw new PcpError('PM_ERR_IPC', `A control request of control ${control}, state ${state}`)
  return { control: isMandatory ? 'mandatory' : 'advisory', state: what, deltaMs }
}

async function metricOf(logger: Logger, { pmid }: LogControlSet): Promise<LoggedMetric | PcpError> {
  const known = logger.metrics.get(pmid)
  if (known !== undefined) return known
  try {
    const [desc] = await logger.context.descs([pmid])
    if (desc === undefined || isError(desc)) return desc ?? new PcpError('PM_ERR_PMID')
    const [name = ''] = await logger.context.namesOf(pmid)
    return new LoggedMetric(name, desc)
  } catch (error) {
    return PcpError.from(error)
  }
}

/** Applies a request to the instances it names, or to all; says what came of it. */
async function apply(
  logger: Logger,
  metric: LoggedMetric,
  set: LogControlSet,
  wish: ModeRequest,
): Promise<string[]> {
  const { pmid, indom } = metric.desc
  const names = await orElse(logger.context.namesOf(pmid), [metric.name])
  const title = `  metric: ${names.join(' or ')}`
  const isWhole = set.status <= 0 || indom === PM_INDOM_NULL
  if (isWhole) metric.states.requestAll(wish)
  else for (const inst of set.inst) metric.states.requestOne(inst, wish)
  if (indom === PM_INDOM_NULL) return [`${title}${failureOf(metric.states.whole, wish)}`]
  const known = await orElse(logger.context.instances(indom), { indom, ids: [], names: [] })
  const ids = isWhole ? known.ids : [...set.inst]
  const lines = ids.map((id) => {
    const mode = metric.states.modeOf(id)
    // As in PCP, whose logger has forgotten the names of what nobody wants any more.
    const isHeld = mode !== undefined && (mode.isOn || mode.isMandatory)
    const name = isHeld ? known.names[known.ids.indexOf(id)] : undefined
    return `    instance: ${name ?? `#${id}`}${failureOf(mode, wish)}`
  })
  return [title, ...lines]
}

/** What follows the name of something that is not as a request wants it. */
function failureOf(mode: Mode | undefined, { control, state, deltaMs }: ModeRequest): string {
  const { isMandatory, isOn, deltaMs: actual } = mode ?? ADVISORY_OFF
  const isDone =
    state === 'maybe'
      ? !isMandatory
      : isMandatory === (control === 'mandatory') &&
        isOn === (state === 'on') &&
        (!isOn || actual === deltaMs)
  return isDone ? '' : ' [request failed]'
}

/** What is only told to people may be less when the collector does not know. */
async function orElse<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer
  } catch {
    return otherwise
  }
}

async function describe(
  logger: Logger,
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
      const { ids } = await logger.context.instances(indom)
      instances = isEnquiry ? [...new Set([...ids, ...metric.instances])] : ids
    }
  } catch (error) {
    return emptySet(pmid, PcpError.from(error).status)
  }
  const words = instances.map((id) => wordOf(metric, metric.states.modeOf(id), id))
  return makeSet(pmid, PM_TYPE_U32, instances, words)
}

function wordOf(metric: LoggedMetric, mode: Mode | undefined, inst: number): number {
  let bits = 0
  if (mode?.isOn === true) bits |= IS_ON
  if (mode?.isMandatory === true) bits |= IS_MANDATORY
  if (metric.isAvailable(inst)) bits |= IS_AVAILABLE
  if (metric.isLogged(inst)) bits |= IS_LOGGED
  return bits + (mode?.deltaMs ?? 0) * 2 ** DELTA_SHIFT
}

function titleOf({ control, state, deltaMs }: ModeRequest): string {
  if (state !== 'on') return `${control} ${state}`
  return deltaMs === 0 ? `${control} on once` : `${control} on ${(deltaMs / 1000).toFixed(1)} sec`
}
