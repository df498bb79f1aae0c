/** Metrics and instances in pmlc's commands, and the results for them. pmlc(1) */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import type { ValueSet } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import { type LogControl, type LogControlSet, PM_LOG_MANDATORY, PM_LOG_ON } from '../../wire/log-control.ts'
import type { ControlledMetric } from './parse.ts'
import { instanceText, stateOf } from './print.ts'

/** A metric of a request. */
export interface RequestedMetric {
  readonly name: string
  readonly desc: MetricDesc
  /** Current names of its instances; undefined for a metric without an instance domain. */
  readonly names: ReadonlyMap<number, string> | undefined
  /** Requested instances; empty for all. */
  readonly instances: readonly number[]
}

const IGNORED = 'Logging statement ignored due to error(s)\n'

/**
 * Looks up a command's metrics; `where` begins warnings. If anything is missing, prints it and returns undefined; the command is then
 * not executed.
 */
export async function findRequestedMetrics(
  context: Context,
  specs: readonly ControlledMetric[],
  where: string,
  tell: (text: string) => void,
): Promise<readonly RequestedMetric[] | undefined> {
  const subjects: RequestedMetric[] = []
  const domains = new Map<Indom, ReadonlyMap<number, string>>()
  let isFine = true
  for (const spec of specs) {
    try {
      for (const [name, id] of await leavesOf(context, spec.name)) {
        // Like PCP's pmlc, skips metrics below a name that have no descriptor and so cannot be logged.
        if (name !== spec.name && !(await isDescribed(context, id))) continue
        const subject = await subjectOf(context, spec, name, id, domains, tell)
        if (subject === undefined) isFine = false
        else subjects.push(subject)
      }
    } catch (error) {
      isFine = false
      const why = PcpError.from(error).text
      tell(`Warning ${where}\nProblem with lookup for metric "${spec.name}" ...\nReason: ${why}\n`)
    }
  }
  if (isFine) return subjects
  tell(IGNORED)
  return undefined
}

/** Returns names and PMIDs of a metric, or of the metrics below a name. */
async function leavesOf(context: Context, name: string): Promise<(readonly [string, Pmid])[]> {
  const [found] = await context.lookupNames([name])
  if (found !== undefined && !isError(found)) return [[name, found]]
  if (found?.code !== 'PM_ERR_NONLEAF') throw found ?? new PcpError('PM_ERR_NAME')
  const names = await context.traverse(name)
  const ids = await context.lookupNames(names)
  return names.flatMap((leaf, i): (readonly [string, Pmid])[] => {
    const id = ids[i]!
    return isError(id) ? [] : [[leaf, id]]
  })
}

async function isDescribed(context: Context, id: Pmid): Promise<boolean> {
  const [desc] = await context.descs([id])
  return desc !== undefined && !isError(desc)
}

async function subjectOf(
  context: Context,
  { instances }: ControlledMetric,
  name: string,
  id: Pmid,
  domains: Map<Indom, ReadonlyMap<number, string>>,
  tell: (text: string) => void,
): Promise<RequestedMetric | undefined> {
  const desc = await context.desc(id)
  if (desc.indom === PM_INDOM_NULL) {
    if (instances.length === 0) return { name, desc, names: undefined, instances: [] }
    tell(`Error: ${name} has no instance domain but an instance was specified\n`)
    return undefined
  }
  const names = domains.get(desc.indom) ?? (await namesOf(context, desc.indom))
  domains.set(desc.indom, names)
  const ids: number[] = []
  for (const instance of instances) {
    const found = idOf(names, instance)
    if (found !== undefined) ids.push(found)
    else tell(missingText(name, instance))
  }
  return ids.length === instances.length ? { name, desc, names, instances: ids } : undefined
}

async function namesOf(context: Context, indom: Indom): Promise<ReadonlyMap<number, string>> {
  const { ids, names } = await context.instances(indom)
  return new Map(ids.map((id, i) => [id, names[i]!]))
}

function idOf(names: ReadonlyMap<number, string>, instance: string | number): number | undefined {
  if (typeof instance === 'number') return names.has(instance) ? instance : undefined
  const entries = [...names]
  const found =
    entries.find(([, name]) => name === instance) ??
    entries.find(([, name]) => name.split(' ', 1)[0] === instance)
  return found?.[0]
}

function missingText(name: string, instance: string | number): string {
  const which = typeof instance === 'number' ? 'number' : 'named'
  return `Error: metric ${name} currently has no instance ${which} ${instance}
    - only instances that exist now can be named; without any the
      logger takes all instances there are each time it logs the
      metric
`
}

/** Returns the part of a request for one metric. */
export function requestSet({ desc, instances }: RequestedMetric): LogControlSet {
  const { pmid } = desc
  const inst = Int32Array.from(instances)
  return { pmid, status: inst.length, inst, word: new Int32Array(inst.length) }
}

/** Formats the failed changes of a request; '' if all succeeded. */
export function failuresText(
  request: LogControl,
  subjects: readonly RequestedMetric[],
  sets: readonly ValueSet[],
): string {
  let text = ''
  subjects.forEach(({ name, names }, s) => {
    const set = sets[s]
    if (set === undefined || set.status <= 0) return
    const failed = [...set.inst].filter((_, i) => !hasComeAbout(request, set.word[i]!))
    if (failed.length === 0) return
    if (names === undefined) text += `${name}\n\n`
    else
      text += `${name} instance(s):\n${failed.map((inst) => `    ${instanceText(inst, names)}\n`).join('')}\n`
  })
  return text === '' ? '' : `Warning: unable to change logging state for:\n${text}`
}

function hasComeAbout({ control, state, deltaMs }: LogControl, word: number): boolean {
  const now = stateOf(word)
  if (state === PM_LOG_ON || state === 0) {
    const isOn = state === PM_LOG_ON
    return (
      now.isMandatory === (control === PM_LOG_MANDATORY) &&
      now.isOn === isOn &&
      (!isOn || now.deltaMs === deltaMs)
    )
  }
  // An advisory state that stays on counts as a failure, as in PCP.
  return !now.isMandatory && now.deltaMs === 0
}
