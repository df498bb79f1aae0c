/** /pmapi: PCP's REST API for live metrics. docs/reference/pmproxy.md, pmwebapi(3) */
import { failure, missingParameter, page, type Reply } from '../http/reply.ts'
import { formQuery, type WebRequest } from '../http/request.ts'
import type { Services } from '../services.ts'
import { derive } from './derive.ts'
import { fetchValues } from './fetch.ts'
import { indom } from './indom.ts'
import { children, context, metric } from './metadata.ts'
import { metrics } from './openmetrics.ts'
import { profile } from './profile.ts'
import { type ApiCall, type ApiRoute, withContext } from './session.ts'
import { store } from './store.ts'

/** The routes by name. */
export const API_ROUTES: Readonly<Record<string, ApiRoute>> = {
  context,
  metric,
  fetch: fetchValues,
  children,
  indom,
  profile,
  store,
  derive,
  metrics,
}

/** Matches `/pmapi/[CONTEXT/][_]ROUTE`; /metrics is a separate route. */
const PATH = /^\/pmapi\/(?:(\d+)\/)?(_?)([a-z]+)\/?$/

/** Returns the route of a path; undefined if there is none. */
export function apiRoute(
  path: string,
): { route: ApiRoute; contextId: string | undefined; isCompatible: boolean } | undefined {
  if (path === '/metrics' || path === '/metrics/')
    return { route: metrics, contextId: undefined, isCompatible: false }
  const [, contextId, underscore, name = ''] = PATH.exec(path) ?? []
  if (!Object.hasOwn(API_ROUTES, name)) return undefined
  return { route: API_ROUTES[name]!, contextId, isCompatible: underscore === '_' }
}

/** Answers a request below /pmapi, or for /metrics. */
export async function answerApi(request: WebRequest, services: Services): Promise<Reply> {
  const found = apiRoute(request.path)
  if (found === undefined) return page(404, 'unknown', 'no handler for URL')
  const { route, contextId, isCompatible } = found
  const query = route.takesBody ? request.query : await formQuery(request)
  if (
    route.needs?.every((name) => query.get(name) === undefined) &&
    !(route.takesBody && request.method === 'POST')
  )
    return missingParameter('webapi')
  const hasContext = contextId !== undefined || query.get('context') !== undefined
  try {
    query.refuseControls()
    if (!hasContext) route.check?.(query)
  } catch (error) {
    return failure(error)
  }
  const call: ApiCall = { request, query, services, contextId, isCompatible }
  return withContext(call, async (whole) => {
    route.check?.(query)
    return route.act(whole)
  })
}
