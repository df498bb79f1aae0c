/** /series, /search and /logger of a server without a key server, which accepts no archives. docs/reference/pmproxy.md */

import { jsonText } from '../describe.ts'
import { Query } from '../http/query.ts'
import { json, missingParameter, page, type Reply } from '../http/reply.ts'
import { textBody, type WebRequest } from '../http/request.ts'

/** Routes of /series with the parameters of which one is required. */
const SERIES: Readonly<Record<string, readonly string[]>> = {
  ping: [],
  query: ['expr'],
  values: ['series'],
  descs: ['series'],
  instances: [],
  labels: [],
  metrics: [],
  sources: ['source', 'match', 'client'],
  load: ['expr'],
}

/** Routes of /search. */
const SEARCH: Readonly<Record<string, readonly string[]>> = {
  text: ['query'],
  suggest: ['query'],
  indom: ['query'],
  info: [],
}

const LOGGER = ['ping', 'label', 'meta', 'index', 'volume']

/** Answers a request below one of the three paths; undefined for others. */
export async function answerWithoutKeyServer(request: WebRequest): Promise<Reply | undefined> {
  const [, servlet = '', name = ''] = request.path.split('/')
  if (servlet === 'logger') return logger(name, request)
  const routes = servlet === 'series' ? SERIES : servlet === 'search' ? SEARCH : undefined
  if (routes === undefined) return undefined
  if (!Object.hasOwn(routes, name)) return page(404, 'unknown', 'no handler for URL')
  const body = servlet === 'series' ? await textBody(request) : ''
  const query = body === '' ? request.query : new Query(body)
  const needs = routes[name]!
  const lacks = needs.length > 0 && needs.every((each) => query.get(each) === undefined)
  if (lacks && name === 'values') return json(`{${clientOf(query)}"success":false}`, 400)
  if (lacks || query.get('series') === '' || query.get('expr') === '') return missingParameter(servlet)
  if (servlet === 'search') return json('{"success":false}', 400)
  const start = clientOf(query)
  if (name === 'ping') return json(`{${start}"success":true}`)
  const [badId] = (query.list('series') ?? []).filter((id) => !/^[0-9a-f]{40}$/i.test(id))
  const why =
    badId === undefined
      ? 'Cannot connect to key server: Connection refused'
      : `Invalid SID ${badId} near offset 0`
  return json(`{${start}"message":${jsonText(why)},"success":false}`, 400)
}

function logger(name: string, request: WebRequest): Reply {
  if (!LOGGER.includes(name)) return page(404, 'unknown', 'no handler for URL')
  const isPing = name === 'ping'
  if ((request.method === 'POST') === isPing) return missingParameter('logger')
  const start = clientOf(request.query)
  if (isPing) return json(`{${start}"success":true}`)
  // Rejects pushed archives before the client sends them completely.
  return json(`{${start}"message":"pushed archives are not accepted here","success":false}`, 403)
}

function clientOf(query: Query): string {
  const client = query.get('client')
  return client === undefined ? '' : `"client":${jsonText(client)},`
}
