/** /pmapi/store: changes values of a metric, if the configuration allows it. docs/reference/pmproxy.md, pmStore(3) */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL } from '../../model/ids.ts'
import { parseValue } from '../../model/parse-value.ts'
import { PM_TYPE_STRING } from '../../model/types.ts'
import { makeSet } from '../../model/value-writer.ts'
import { describeNames, parsePmid } from '../describe.ts'
import { isDeliberate } from '../http/origin.ts'
import { failure, json, missingParameter, withoutChallenge } from '../http/reply.ts'
import { textBody } from '../http/request.ts'
import { matchKind } from '../match.ts'
import { chooseInstances } from './indom.ts'
import { withMessage } from './metadata.ts'
import type { ApiRoute, ContextCall } from './session.ts'

/** Handles the route. Unlike in the reference, the profile of the context is not changed. */
export const store: ApiRoute = {
  needs: ['name', 'pmid'],
  takesBody: true,
  check: (query) => void matchKind(query.get('match')),
  act: async (call) => {
    const { web, start, query, request, services } = call
    const body = await textBody(request)
    const text = query.get('value') ?? (body === '' ? undefined : body)
    if (text === undefined || query.get('name', 'pmid') === undefined) return missingParameter('webapi')
    const { label, desc } = await storedMetric(call)
    const failed = (error: unknown): PcpError =>
      withMessage(error, (why) => `failed to store value to metric ${label}: ${why}`)
    // Pages of other origins may only read. Anything else must be a deliberate request.
    if (!services.config.allowsStore || request.origin !== undefined || !isDeliberate(request))
      throw failed(new PcpError('PM_ERR_PERMISSION'))
    const options = { signal: request.signal }
    try {
      if (desc.type > PM_TYPE_STRING) throw new PcpError('PM_ERR_TYPE')
      const insts = await instancesOf(call, desc)
      const value = readValue(text, desc.type)
      const set = makeSet(
        desc.pmid,
        desc.type,
        Int32Array.from(insts),
        insts.map(() => value),
      )
      await web.context.store([set], options)
    } catch (error) {
      // Refused by the collector, so not 403, which means refused by this server.
      return withoutChallenge(failure(failed(error), start), 400)
    }
    return json(`{${start}"success":true}`)
  },
}

/** Parses a value; PCP reports text that is not a number of the type as an illegal type. */
function readValue(text: string, type: number): ReturnType<typeof parseValue> {
  try {
    return parseValue(text, type)
  } catch (error) {
    const { code } = PcpError.from(error)
    throw new PcpError(code === 'ERANGE' ? code : 'PM_ERR_TYPE', undefined, { cause: error })
  }
}

async function storedMetric({
  web,
  query,
  request,
}: ContextCall): Promise<{ label: string; desc: MetricDesc }> {
  const options = { signal: request.signal }
  const name = query.get('name')
  if (name !== undefined) {
    const [metric] = await describeNames(web.context, [name], options)
    if (metric === undefined || isError(metric))
      throw withMessage(metric, () => `${name} - failed to lookup metric`)
    return { label: name, desc: metric.desc }
  }
  const label = query.get('pmid')!
  const id = parsePmid(label)
  const [desc] = id === undefined ? [] : await web.context.descs([id], options)
  if (desc === undefined || isError(desc))
    throw new PcpError('PM_ERR_PMID', `${label} - failed to lookup PMID`)
  return { label, desc }
}

async function instancesOf(
  { web, query, request }: ContextCall,
  { indom }: MetricDesc,
): Promise<readonly number[]> {
  if (indom === PM_INDOM_NULL) return [PM_IN_NULL]
  const found = await web.context.instances(indom, { signal: request.signal })
  const chosen = chooseInstances(query, found)
  if (chosen.length === 0) throw new PcpError('PM_ERR_INST')
  return chosen.map((i) => found.ids[i]!)
}
