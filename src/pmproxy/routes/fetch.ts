/** /pmapi/fetch: values now. docs/pmproxy.md */

import { PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { ValueSet } from '../../model/values.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { fromSeconds } from '../../time/stamp.ts'
import { describeNames, isKnown, jsonText, jsonValue, orNothing, parsePmid } from '../describe.ts'
import { json } from '../http/reply.ts'
import type { ApiRoute, ContextCall } from './session.ts'

interface Wanted {
  /** What an answer has before the values: one a name, the one asked for first. */
  readonly heads: readonly string[]
  readonly pmid: Pmid
  readonly type: number
  readonly hasInstances: boolean
}

/** The route. */
export const fetchValues: ApiRoute = {
  needs: ['names', 'name', 'pmids', 'pmid'],
  act: async (call) => {
    const { web, start, query, isCompatible, request } = call
    const names = query.get('names', 'name')
    const asked = names === undefined ? `pmids ${query.get('pmids', 'pmid')}` : `names ${names}`
    const question = isCompatible ? `_${asked}` : asked
    const wanted = await web.memo.get(question, () => wantedMetrics(call))
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
    // A sum of seconds and a fraction, which the reference's is not: it leaves zeros out behind the dot.
    return json(`{${start}"timestamp":${sec}.${String(nsec).padStart(9, '0')},${list}}`)
  },
}

function now(): { sec: number; nsec: number } {
  const ms = Date.now()
  return { sec: Math.floor(ms / 1000), nsec: (ms % 1000) * 1e6 }
}

/** Over archives a fetch is for a moment: `time`, in seconds. */
function moveInTime({ web, query }: ContextCall): void {
  const { archive } = web.context
  const time = query.get('time')
  if (archive === undefined || time === undefined) return
  const seconds = Number(time)
  if (time.trim() === '' || !Number.isFinite(seconds) || Math.abs(seconds) > 1e11)
    throw new PcpError('PM_ERR_ARG', `${time} - invalid 'time' parameter value`)
  archive.setMode('interpolate', fromSeconds(seconds), 1)
}

async function wantedMetrics({ web, query, request, isCompatible }: ContextCall): Promise<Wanted[]> {
  const names = query.list('names', 'name')
  const options = { signal: request.signal }
  if (names !== undefined) {
    const found = await describeNames(web.context, names, options)
    const known = found.filter(isKnown)
    if (known.length === 0 && names.length < 2) throw new PcpError('PM_ERR_ARG', 'bad parameters passed')
    return wholeMetrics(
      web.context,
      known.map(({ name, desc }) => ({ name, ...desc })),
      isCompatible,
      options,
    )
  }
  const given = query.list('pmids', 'pmid') ?? []
  const ids = given.map(parsePmid).filter((id) => id !== undefined)
  const descs = await web.context.descs(ids, options)
  const known = descs.filter(isKnown)
  if (known.length === 0 && given.length < 2) throw new PcpError('PM_ERR_ARG', 'bad parameters passed')
  return wholeMetrics(web.context, known, isCompatible, options)
}

interface Known {
  readonly name?: string
  readonly pmid: Pmid
  readonly type: number
  readonly indom: number
}

/** Metrics with all their names, each once: clients look for the one they know. */
async function wholeMetrics(
  context: Context,
  known: readonly Known[],
  isCompatible: boolean,
  options: CallOptions,
): Promise<Wanted[]> {
  const first = new Map<Pmid, Known>()
  for (const metric of known) if (!first.has(metric.pmid)) first.set(metric.pmid, metric)
  return Promise.all(
    [...first.values()].map(async ({ name, pmid, type, indom }) => {
      const all = (await orNothing(context.namesOf(pmid, options))) ?? []
      const names = name === undefined ? all : [name, ...all.filter((each) => each !== name)]
      const id = isCompatible ? String(pmid) : `"${pmidStr(pmid)}"`
      const heads = names.map((each) => `{"pmid":${id},"name":${jsonText(each)},"instances":[`)
      return { heads, pmid, type, hasInstances: indom !== PM_INDOM_NULL }
    }),
  )
}

function values({ type, hasInstances }: Wanted, set: ValueSet, isCompatible: boolean): string {
  const none = isCompatible ? '-1' : 'null'
  let text = ''
  for (let i = 0; i < set.status; i++) {
    const instance = hasInstances ? String(set.inst[i]) : none
    text += `${i === 0 ? '' : ','}{"instance":${instance},"value":${jsonValue(set, i, type)}}`
  }
  return text
}
