/** /series and /search on a server with archives: access, and the choice of thread. docs/reference/rest.md */

import { PcpError } from '../../model/errors.ts'
import { domainOf } from '../../model/ids.ts'
import { ArchiveSeries } from '../../series/archives/store.ts'
import type { SeriesStore } from '../../series/store.ts'
import { processZone, readZoneFile } from '../../sys/zones.ts'
import { makeZone, newZone } from '../../time/zone.ts'
import { PROC_DOMAIN } from '../archives.ts'
import { userOf } from '../http/login.ts'
import { Query } from '../http/query.ts'
import { BUSY_HEADERS, failure, type Reply, unauthorized } from '../http/reply.ts'
import { textBody, type WebRequest } from '../http/request.ts'
import type { KnownExpressions } from '../known-expressions.ts'
import type { Services } from '../services.ts'
import { isNamed } from '../web-user.ts'
import { answerSearch } from './search.ts'
import { answerSeries, expressionParameter } from './series.ts'

/** Opens the series of archives below directories, without those of processes, which only named users may see. */
export function openArchiveSeries(directories: readonly string[]): SeriesStore {
  return new ArchiveSeries(directories, {
    ignoresLinks: true,
    ignores: (domain) => domainOf(domain) === PROC_DOMAIN,
  })
}

/** Answers a request below /series/ or /search/; undefined for other paths, and on a server without archives. */
export async function answerSeriesRequest(
  request: WebRequest,
  services: Services,
): Promise<Reply | undefined> {
  const { path, signal } = request
  if (!/^\/(?:series|search)\//.test(path) || !services.archives.isOpen) return undefined
  const user = userOf(request, services)
  if (user === null || (!isNamed(user) && services.config.requiresUser))
    return unauthorized(request.headers.authorization)
  const body = await textBody(request)
  const given = body === '' ? request.query : new Query(body)
  const { expressions, archiveGate, archiveThreads } = services
  if (path === '/series/query') expressions.add(given.get('expr') ?? '')
  const query = withExpressions(given, expressions)
  try {
    return await archiveGate.run(
      signal,
      () =>
        archiveThreads?.answer({ path, query, signal }, user) ??
        answerSeriesPath(path, query, services.series),
    )
  } catch (error) {
    const reply = failure(error)
    return PcpError.from(error).code === 'EBUSY' ? { ...reply, status: 503, headers: BUSY_HEADERS } : reply
  }
}

/** Answers in this thread. */
export function answerSeriesPath(path: string, query: Query, store: SeriesStore): Promise<Reply> {
  const { name, bytes } = processZone()
  const zone = makeZone(name, bytes)
  const clock = {
    now: Date.now,
    zone,
    zoneOf: (other: string) => newZone(other, (file) => readZoneFile(file)),
  }
  const [, group, route = ''] = path.split('/')
  if (group === 'search') return answerSearch(route, query, store)
  return answerSeries(route, { query, store, clock })
}

/** Adds the calculations of the identifiers in a query, which only this thread knows. */
function withExpressions(query: Query, expressions: KnownExpressions): Query {
  const known = (query.list('series') ?? []).flatMap((id) => {
    const text = expressions.of(id)
    return text === undefined ? [] : [`&${expressionParameter(id)}=${encodeURIComponent(text)}`]
  })
  return known.length === 0 ? query : new Query(query.text + known.join(''))
}
