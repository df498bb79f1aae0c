/** Reduces a request to a route with few distinct values: `/users/:id`. */
import type { IncomingMessage } from 'node:http'

const MOST_CHARACTERS = 120
const MOST_SEGMENTS = 8
/** Numbers, UUIDs, and long words with digits, which are unlikely in routes. */
const IDENTIFIER = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|(?=.*\d)[\w-]{16,})$/i

/** Properties that Express, Connect and Restify set on a request. */
interface Routed {
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
  readonly route?: { readonly path?: unknown }
}

/** Returns the route found by a framework; otherwise the path with `:id` for segments that look like identifiers. */
export function routeOf(request: IncomingMessage): string {
  const { baseUrl, originalUrl, route } = request as Routed
  if (typeof route?.path === 'string') return `${typeof baseUrl === 'string' ? baseUrl : ''}${route.path}`
  return routeOfPath(typeof originalUrl === 'string' ? originalUrl : (request.url ?? '/'))
}

/**
 * Returns a path, or a request's target, with identifiers replaced. Segments without digits, the majority, are skipped; a
 * path without identifiers is returned unchanged.
 */
export function routeOfPath(target: string): string {
  const path = withoutQuery(target)
  let route = ''
  let copied = 0
  let start = 0
  for (let segments = 0; start <= path.length; segments++) {
    const slash = path.indexOf('/', start)
    const end = slash < 0 ? path.length : slash
    if (segments > MOST_SEGMENTS) return `${route}${path.slice(copied, start)}*`
    if (hasDigit(path, start, end) && IDENTIFIER.test(path.slice(start, end))) {
      route += `${path.slice(copied, start)}:id`
      copied = end
    }
    start = end + 1
  }
  return copied === 0 ? path : route + path.slice(copied)
}

function withoutQuery(target: string): string {
  for (let i = 0; i < target.length; i++) {
    const code = target.charCodeAt(i)
    if (code === 0x3f || code === 0x23) return target.slice(0, i) // ? and #
  }
  return target
}

function hasDigit(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x30 && code <= 0x39) return true
  }
  return false
}

/** Formats a route as part of an instance name: without spaces, which would end the name's identifying part, and shortened. */
export function asPart(route: string): string {
  return route.replace(/[\s\p{Cc}]/gu, '_').slice(0, MOST_CHARACTERS)
}
