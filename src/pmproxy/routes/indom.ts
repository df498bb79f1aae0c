/** /pmapi/indom: instance domains. docs/reference/pmproxy.md */
import { isError, PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { Instances } from '../../model/source.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { contextSets, describeNames, jsonText, labelsJson, orUndefined, parseIndom } from '../describe.ts'
import type { Query } from '../http/query.ts'
import { json } from '../http/reply.ts'
import { matchKind, matchNames } from '../match.ts'
import { withMessage } from './metadata.ts'
import type { ApiRoute } from './session.ts'

export const indom: ApiRoute = {
  needs: ['name', 'indom'],
  check: (query) => void matchKind(query.get('match')),
  act: async ({ web, start, query, request, isCompatible }) => {
    const { context } = web
    const options = { signal: request.signal }
    const domain = await requestedIndom(context, query, options)
    if (domain === undefined || domain === PM_INDOM_NULL)
      throw new PcpError('PM_ERR_INDOM', `failed to lookup indom ${query.get('indom')}`)
    const [found, sets, own, oneline, help, ofInstances] = await Promise.all([
      orUndefined(context.instances(domain, options)),
      contextSets(context, options),
      orUndefined(context.indomLabels(domain, options)),
      orUndefined(context.indomText(domain, { ...options, level: 'oneline' })),
      orUndefined(context.indomText(domain, options)),
      orUndefined(context.instancesLabels(domain, options)),
    ])
    const labels = new Map<number, LabelSet>((ofInstances ?? []).map((set) => [set.inst, set]))
    const chosen = found === undefined ? [] : chooseInstances(query, found)
    const rows = chosen.map((i) => {
      const [id, name] = [found!.ids[i]!, found!.names[i]!]
      const all = labels.has(id) ? [...sets, labels.get(id)!] : sets
      return `{"instance":${id},"name":${jsonText(name)},"labels":${labelsJson(all)}}`
    })
    const members = [
      isCompatible ? `"indom":${domain}` : `"indom":"${indomStr(domain)}"`,
      `"labels":${labelsJson([...sets, ...(own ?? [])])}`,
      ...(oneline ? [`"text-oneline":${jsonText(oneline)}`] : []),
      ...(help ? [`"text-help":${jsonText(help)}`] : []),
      `"instances":[${rows.join(',')}]`,
    ]
    return json(`{${isCompatible ? '' : start}${members.join(',')}}`)
  },
}

/**
 * Returns the instance domain selected by `name` (of a metric) or `indom`; undefined if neither is present or `indom` is null. PM_ERR_NAME or
 * PM_ERR_INDOM with PCP's text for a metric.
 */
export async function requestedIndom(
  context: Context,
  query: Query,
  options: CallOptions,
): Promise<Indom | undefined> {
  const name = query.get('name')
  if (name === undefined) return parseIndom(query.get('indom') ?? '')
  const [metric] = await describeNames(context, [name], options)
  if (metric === undefined || isError(metric))
    throw withMessage(metric, () => `${name} - failed to lookup metric`)
  if (metric.desc.indom === PM_INDOM_NULL)
    throw new PcpError('PM_ERR_INDOM', `${name} - metric has null indom`)
  return metric.desc.indom
}

/** Returns positions of the instances selected by `iname` (names, by `match`) or else `instance` (numbers); all if neither is present or the list is empty. */
export function chooseInstances(query: Query, { ids, names }: Instances): number[] {
  const isEach = chosenBy(query, names)
  return ids.flatMap((id, i) => (isEach(id, i) ? [i] : []))
}

function chosenBy(query: Query, names: readonly string[]): (id: number, i: number) => boolean {
  const wantedNames = query.list('iname')
  const wantedIds = wantedNames === undefined ? query.list('instance') : undefined
  if ((wantedNames ?? wantedIds ?? []).length === 0) return () => true
  if (wantedNames !== undefined) {
    const matches = matchNames(matchKind(query.get('match')), wantedNames, names)
    return (_, i) => matches[i]!
  }
  const numbers = new Set(wantedIds!.map(Number))
  return (id) => numbers.has(id)
}
