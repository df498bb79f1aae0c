/** Metadata routes: contexts, metrics, children in the name space. docs/reference/pmproxy.md */
import { isError, PcpError } from '../../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import {
  contextSets,
  describeNames,
  jsonText,
  labelSets,
  labelsJson,
  type NamedMetric,
  orUndefined,
  semName,
  seriesId,
  sourceId,
  typeName,
  unitsName,
} from '../describe.ts'
import { json } from '../http/reply.ts'
import type { ApiRoute, ContextCall } from './session.ts'

/** Metrics described at a time; each takes several requests. */
const BATCH = 256

/** /pmapi/context: makes a context, or describes one. */
export const context: ApiRoute = {
  act: async ({ web, start, request, isCompatible }) => {
    if (isCompatible) return json(`{"context":${web.id}}`)
    const [sets, host] = await Promise.all([
      contextSets(web.context, request),
      web.context.hostname({ signal: request.signal }),
    ])
    const what = `"source":"${sourceId(sets, host)}","hostspec":${jsonText(host)},"labels":${labelsJson(sets)}`
    return json(`{${start}${what}}`)
  },
}

/** /pmapi/children: one level of the name space. */
export const children: ApiRoute = {
  act: async ({ web, start, query, request }) => {
    const name = query.get('prefix', 'name') ?? ''
    const found = await web.context.children(name, request).catch((error: unknown) => {
      throw withMessage(error, (text) => `child traversal failed - ${text}`)
    })
    const list = (isLeaf: boolean): string =>
      found
        .filter((child) => child.isLeaf === isLeaf)
        .map((child) => jsonText(child.name))
        .join(',')
    return json(`{${start}"name":${jsonText(name)},"leaf":[${list(true)}],"nonleaf":[${list(false)}]}`)
  },
}

/** /pmapi/metric: metadata of metrics. */
export const metric: ApiRoute = {
  act: async (call) => {
    const listed = call.query.list('prefix', 'names', 'name') ?? []
    const asked = listed.length === 0 ? [''] : listed
    const question = `metric ${call.isCompatible} ${asked.join(',')}`
    const rows = await call.web.memo.short(question, () => metricRows(call, asked))
    return json(`{${call.start}"metrics":[${rows}]}`)
  },
}

async function metricRows(
  { web, request, isCompatible }: ContextCall,
  asked: readonly string[],
): Promise<string> {
  const options = { signal: request.signal }
  const rows: string[] = []
  for (const name of asked) {
    try {
      const leaves = await web.context.traverse(name, options)
      for (let at = 0; at < leaves.length; at += BATCH)
        rows.push(...(await describeMany(web.context, leaves.slice(at, at + BATCH), options, isCompatible)))
    } catch (error) {
      const known = PcpError.from(error)
      if (asked.length === 1) throw withMessage(known, (text) => `${name} traversal failed - ${text}`)
      rows.push(`{"name":${jsonText(name)},"message":${jsonText(known.text)},"success":false}`)
    }
  }
  return rows.join(',')
}

/** Returns the error with a message made from PCP's text for it. */
export function withMessage(error: unknown, message: (text: string) => string): PcpError {
  const known = PcpError.from(error)
  return new PcpError(known.code, message(known.text), { status: known.status, cause: error })
}

async function describeMany(
  context: Context,
  names: readonly string[],
  options: CallOptions,
  isCompatible: boolean,
): Promise<string[]> {
  const metrics = await describeNames(context, names, options)
  return Promise.all(
    metrics.map(async (found, i) => {
      if (isError(found))
        return `{"name":${jsonText(names[i]!)},"message":"failed to lookup metric name","success":false}`
      const sets = await labelSets(context, found.desc.pmid, options)
      return `{${await describe(context, found, sets, options, isCompatible)}}`
    }),
  )
}

async function describe(
  context: Context,
  { name, desc }: NamedMetric,
  sets: readonly LabelSet[],
  options: CallOptions,
  isCompatible: boolean,
): Promise<string> {
  const { pmid, indom } = desc
  const [oneline, help] = await Promise.all([
    orUndefined(context.text(pmid, { ...options, level: 'oneline' })),
    orUndefined(context.text(pmid, options)),
  ])
  const members = [
    `"name":${jsonText(name)},"series":"${seriesId(name, desc, sets)}"`,
    isCompatible ? `"pmid":${pmid}` : `"pmid":"${pmidStr(pmid)}"`,
    ...(indom === PM_INDOM_NULL ? [] : [isCompatible ? `"indom":${indom}` : `"indom":"${indomStr(indom)}"`]),
    `"type":"${typeName(desc.type)}","sem":"${semName(desc.sem)}","units":"${unitsName(desc.units)}"`,
    `"labels":${labelsJson(sets)}`,
    ...textMember('text-oneline', oneline, pmid),
    ...textMember('text-help', help, pmid),
  ]
  return members.join(',')
}

/** Returns the JSON member of a help text. Without a text, expressions have an empty one and other metrics none. */
function textMember(name: string, text: string | undefined, pmid: Pmid): string[] {
  if (!text && domainOf(pmid) !== DOMAIN_RESERVED) return []
  return [`"${name}":${jsonText(text ?? '')}`]
}
