/** /series and /search: access, and whether Prometheus, a key server or archives answer. docs/reference/rest.md */

import { PcpError } from '../../model/errors.ts'
import { domainOf } from '../../model/ids.ts'
import { PROC_DOMAIN } from '../../model/process-sample.ts'
import { ArchiveSeries } from '../../series/archives/store.ts'
import { readServer } from '../../series/prometheus/credentials.ts'
import { PrometheusStore } from '../../series/prometheus/store.ts'
import type { SeriesStore } from '../../series/store.ts'
import { processZone, readZoneFile } from '../../sys/zones.ts'
import { makeZone, newZone } from '../../time/zone.ts'
import type { ProxyConfig } from '../config.ts'
import { requireUser, userOf } from '../http/login.ts'
import { Query } from '../http/query.ts'
import { BUSY_HEADERS, failure, httpStatus, type Reply, unauthorized } from '../http/reply.ts'
import { textBody, type WebRequest } from '../http/request.ts'
import type { KnownExpressions } from '../known-expressions.ts'
import type { Redaction } from '../redaction.ts'
import type { Services } from '../services.ts'
import { isNamed, type WebUser } from '../web-user.ts'
import { answerSearch } from './search.ts'
import { answerSeries, expressionParameter } from './series.ts'

/** Opens the series of archives below directories, without those of processes, which only named users may see. */
export function openArchiveSeries(directories: readonly string[]): SeriesStore {
  return new ArchiveSeries(directories, {
    ignoresLinks: true,
    keepsCatalogue: true,
    ignores: (domain) => domainOf(domain) === PROC_DOMAIN,
  })
}

/** Metrics of processes, on a Prometheus server: those of PCP's agent proc. */
const OF_PROCESSES = '(?:proc|hotproc|cgroup)_.*'

/**
 * Opens the series of a configuration: of a Prometheus server if there is one, else of archives. Throws the errors of
 * `readServer`.
 */
export function openSeries({ prometheus, archiveDirs }: ProxyConfig): SeriesStore {
  if (prometheus === undefined) return openArchiveSeries(archiveDirs)
  return new PrometheusStore(readServer(prometheus), {
    hidden: OF_PROCESSES,
    known: async () => (await import('../../agents/known-metrics.ts')).knownMetrics(),
    limits: { maxBytes: 16 * 1024 * 1024 },
  })
}

/** Answers a request below /series/ or /search/; undefined for other paths, and on a server without series. */
export async function answerSeriesRequest(
  request: WebRequest,
  services: Services,
): Promise<Reply | undefined> {
  const { path, signal } = request
  const isOfArchives = services.config.prometheus === undefined
  const isServed = !isOfArchives || services.archives.isOpen || services.keys !== undefined
  if (!/^\/(?:series|search)\//.test(path) || !isServed) return undefined
  const asker = userOf(request, services)
  if (asker === null || (!isNamed(asker) && services.config.requiresUser))
    return unauthorized(request.headers.authorization)
  const body = await textBody(request)
  const given = body === '' ? request.query : new Query(body)
  const { expressions, archiveGate, archiveThreads, redaction } = services
  if (path === '/series/query') expressions.add(given.get('expr') ?? '')
  const query = withExpressions(given, expressions)
  try {
    const user = await verified(asker, services)
    return await archiveGate.run(signal, async () => {
      if (!isOfArchives) return answerSeriesPath(path, query, services.series, redaction)
      return (
        (await answerOfKeys(path, query, isNamed(user), services)) ??
        archiveThreads?.answer({ path, query, signal }, user) ??
        answerSeriesPath(path, query, services.series, redaction)
      )
    })
  } catch (error) {
    const reply = failure(redaction.error(error))
    return PcpError.from(error).code === 'EBUSY' ? { ...reply, status: 503, headers: BUSY_HEADERS } : reply
  }
}

/**
 * Returns the user after the collector has checked the login. Where no user is required and the collector cannot check logins, or is away, the
 * login is ignored, as PCP always ignores it here: then the series of processes are hidden.
 */
async function verified(asker: WebUser, services: Services): Promise<WebUser> {
  try {
    await requireUser(services, asker, true)
    return asker
  } catch (error) {
    if (services.config.requiresUser || httpStatus(PcpError.from(error)) !== 400) throw error
    return { kind: 'unknown', from: asker.from }
  }
}

/**
 * Answers from the key server; undefined without one, or while it is away and there are archives. Only archives have help texts, so they
 * answer searches.
 */
async function answerOfKeys(
  path: string,
  query: Query,
  seesProcesses: boolean,
  { keys, archives, redaction }: Services,
): Promise<Reply | undefined> {
  if (keys === undefined) return undefined
  const isSearch = path.startsWith('/search/')
  if (isSearch && (archives.isOpen || !keys.settings.hasSearch)) return undefined
  const store = await keys.store(seesProcesses)
  if (store instanceof PcpError) {
    if (archives.isOpen) return undefined
    throw store
  }
  const reply = await answerSeriesPath(path, query, store, redaction)
  if (reply.status === 200 || !archives.isOpen || (await keys.stillAnswers())) return reply
  return undefined
}

/** Answers in this thread. */
export function answerSeriesPath(
  path: string,
  query: Query,
  store: SeriesStore,
  redaction: Redaction,
): Promise<Reply> {
  const { name, bytes } = processZone()
  const zone = makeZone(name, bytes)
  const clock = {
    now: Date.now,
    zone,
    zoneOf: (other: string) => newZone(other, (file) => readZoneFile(file)),
  }
  const [, group, route = ''] = path.split('/')
  if (group === 'search') return answerSearch(route, query, store)
  return answerSeries(route, { query, store, clock, redaction })
}

/** Adds the calculations of the identifiers in a query, which only this thread knows. */
function withExpressions(query: Query, expressions: KnownExpressions): Query {
  const known = (query.list('series') ?? []).flatMap((id) => {
    const text = expressions.of(id)
    return text === undefined ? [] : [`&${expressionParameter(id)}=${encodeURIComponent(text)}`]
  })
  return known.length === 0 ? query : new Query(query.text + known.join(''))
}
