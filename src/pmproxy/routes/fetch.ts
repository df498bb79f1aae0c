/** /pmapi/fetch: current values. docs/reference/pmproxy.md */

import type { MetricDesc } from '../../model/desc.ts'
import { type Outcome, PcpError } from '../../model/errors.ts'
import { PM_ID_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { ValueSet } from '../../model/values.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { fromSeconds } from '../../time/stamp.ts'
import { describeNames, isKnown, jsonText, jsonValue, orUndefined, parsePmid } from '../describe.ts'
import { json } from '../http/reply.ts'
import type { ApiRoute, ContextCall } from './session.ts'

interface RequestedMetric {
  /** JSON before the values, for each name of the metric, the requested one first. */
  readonly heads: readonly string[]
  readonly pmid: Pmid
  readonly type: number
  readonly hasInstances: boolean
}

/** The first of these that is present selects the metrics. */
const PARAMETERS = ['names', 'name', 'pmids', 'pmid'] as const

export const fetchValues: ApiRoute = {
  needs: PARAMETERS,
  act: async (call) => {
    const { web, start, query, isCompatible, request } = call
    const how = PARAMETERS.find((each) => query.get(each) !== undefined)!
    const question = `${isCompatible ? '_' : ''}${how} ${query.get(how)}`
    const wanted = await web.memo.short(question, () => wantedMetrics(call, how))
    moveInTime(call)
    const result =
      wanted.length === 0
        ? undefined
        : await web.fetch(
            wanted.map(({ pmid }) => pmid),
            { signal: request.signal },
          )
    const { sec, nsec } = result?.timestamp ?? now()
    let rows = ''
    for (let i = 0; i < wanted.length; i++) {
      const metric = wanted[i]!
      const instances = values(metric, result!.sets[i]!, isCompatible)
      for (const head of metric.heads) rows += `${rows === '' ? '' : ','}${head}${instances}]}`
    }
    const list = `"values":[${rows}]`
    if (isCompatible) return json(`{"timestamp":{"s":${sec},"us":${Math.floor(nsec / 1000)}},${list}}`)
    // Seconds plus a padded fraction; the reference drops leading zeros of the fraction.
    return json(`{${start}"timestamp":${sec}.${String(nsec).padStart(9, '0')},${list}}`)
  },
}

function now(): { sec: number; nsec: number } {
  const ms = Date.now()
  return { sec: Math.floor(ms / 1000), nsec: (ms % 1000) * 1e6 }
}

/** Sets the position of an archive context from `time`, in seconds. */
function moveInTime({ web, query }: ContextCall): void {
  const { archive } = web.context
  const time = query.get('time')
  if (archive === undefined || time === undefined) return
  const seconds = Number(time)
  if (time.trim() === '' || !Number.isFinite(seconds) || Math.abs(seconds) > 1e11)
    throw new PcpError('PM_ERR_ARG', `${time} - invalid 'time' parameter value`)
  archive.setMode('interpolate', fromSeconds(seconds), 1)
}

/** Returns the existing metrics of a list; with singular parameters each must exist, else PM_ERR_ARG. PM_ERR_TOOSMALL for an empty list. */
async function wantedMetrics(
  { web, query, request, isCompatible }: ContextCall,
  how: (typeof PARAMETERS)[number],
): Promise<RequestedMetric[]> {
  const options = { signal: request.signal }
  const given = query.list(how)!
  if (query.get(how) === '') throw new PcpError('PM_ERR_TOOSMALL')
  const found = how.startsWith('name')
    ? await describeNames(web.context, given, options)
    : await describeIds(web.context, given, options)
  const known = found.filter(isKnown)
  if (!how.endsWith('s') && (known.length === 0 || known.length < found.length))
    throw new PcpError('PM_ERR_ARG', 'bad parameters passed')
  return wholeMetrics(web.context, known, isCompatible, options)
}

async function describeIds(
  context: Context,
  given: readonly string[],
  options: CallOptions,
): Promise<readonly Outcome<Known>[]> {
  const ids = given.map((text) => parsePmid(text) ?? PM_ID_NULL)
  const descs = await context.descs(ids, options)
  return descs.map((desc) => (isKnown(desc) ? { desc } : desc))
}

interface Known {
  readonly name?: string
  readonly desc: MetricDesc
}

/** Returns each metric once with all its names, because clients look for the one they know. */
async function wholeMetrics(
  context: Context,
  known: readonly Known[],
  isCompatible: boolean,
  options: CallOptions,
): Promise<RequestedMetric[]> {
  const first = new Map<Pmid, Known>()
  for (const metric of known) if (!first.has(metric.desc.pmid)) first.set(metric.desc.pmid, metric)
  return Promise.all(
    [...first.values()].map(async ({ name, desc: { pmid, type, indom } }) => {
      const all = (await orUndefined(context.namesOf(pmid, options))) ?? []
      const names = name === undefined ? all : [name, ...all.filter((each) => each !== name)]
      const id = isCompatible ? String(pmid) : `"${pmidStr(pmid)}"`
      const heads = names.map((each) => `{"pmid":${id},"name":${jsonText(each)},"instances":[`)
      return { heads, pmid, type, hasInstances: indom !== PM_INDOM_NULL }
    }),
  )
}

function values({ type, hasInstances }: RequestedMetric, set: ValueSet, isCompatible: boolean): string {
  const none = isCompatible ? '-1' : 'null'
  let text = ''
  for (let i = 0; i < set.status; i++) {
    const instance = hasInstances ? String(set.inst[i]) : none
    text += `${i === 0 ? '' : ','}{"instance":${instance},"value":${jsonValue(set, i, type)}}`
  }
  return text
}
