/** Requests that HTTP servers of this process answer, by method, route and status: items 100 to 119, domains 5 and 6. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import type { Counter, PerInstance } from '../mmv/index.ts'
import type { NodeContext, Part } from './context.ts'
import { Durations } from './durations.ts'
import { Family } from './family.ts'
import { asPart, routeOf } from './route.ts'

const CHANNEL = 'http.server.request.start'
const MOST_ROUTES = 200

/** Counts of one route with one status. */
interface RouteCounts {
  readonly requests: Counter
  readonly time: Counter
}

/** When an answer began: with the answer, which costs less than a closure or a map. */
const START = Symbol('pcp-ts.start')

interface Timed extends ServerResponse {
  [START]?: number | undefined
}

/** All servers of node:http and node:https, whatever framework uses them. */
export function openHttpServer(context: NodeContext): Part {
  const { options } = context
  const durations = new Durations(context, 'http.server.duration', {
    item: 100,
    serial: 6,
    what: 'Answers to HTTP requests',
  })
  const active = context.gauge('http.server.active', 108, 'HTTP requests that are being answered', {
    type: 'u32',
    initial: 0,
  })
  const aborted = context.counter(
    'http.server.aborted',
    109,
    'HTTP requests whose client went before the answer',
  )
  const routes = new RouteTable(context)
  const ended = (response: Timed, ms: number): void => {
    const request = response.req
    active.dec()
    durations.record(ms)
    if (!response.writableFinished) aborted.inc()
    const route = options.routeOf?.(request, response) ?? routeOf(request)
    const counts = routes.of(request.method ?? '', route, response.statusCode)
    counts.requests.inc()
    counts.time.add(ms * 1000)
  }
  /** After the answer is sent, and also when the connection was cut before that. One function for all answers. */
  function onClose(this: Timed): void {
    const start = this[START]
    if (start === undefined) return
    this[START] = undefined
    try {
      ended(this, performance.now() - start)
    } catch (error) {
      context.report(error) // routeOf is the application's
    }
  }
  const onStart = (message: unknown): void => {
    const { response } = message as { readonly response: Timed }
    response[START] = performance.now()
    active.inc()
    response.on('close', onClose)
  }
  subscribe(CHANNEL, onStart)
  return { sample: () => durations.sample(), close: () => void unsubscribe(CHANNEL, onStart) }
}

/** Counts by method, route and status: no text is put together for a route that is known. */
class RouteTable {
  readonly #family: Family
  readonly #requests: PerInstance<Counter>
  readonly #time: PerInstance<Counter>
  readonly #known = new Map<string, Map<string, Map<number, RouteCounts>>>()
  readonly #most: number
  #count = 0

  constructor({ writer, self, options }: NodeContext) {
    this.#most = options.mostRoutes ?? MOST_ROUTES
    const help = 'Methods, routes and status codes of HTTP requests, by process'
    this.#family = new Family(writer, self, { serial: 5, help }, this.#most)
    const { instances } = this.#family
    this.#requests = instances.counter('node.http.server.requests', {
      item: 110,
      help: 'HTTP requests that were answered',
      text: 'Instances are PID::METHOD:ROUTE::STATUS; `other` is all that came when there were too many of them.',
    })
    this.#time = instances.counter('node.http.server.time', {
      item: 111,
      help: 'Time from HTTP requests to the end of their answers',
      units: 'microsec',
    })
  }

  of(method: string, route: string, status: number): RouteCounts {
    return this.#known.get(route)?.get(method)?.get(status) ?? this.#add(method, route, status)
  }

  #add(method: string, route: string, status: number): RouteCounts {
    const instance = this.#family.of(`${method}:${asPart(route)}::${status}`)
    const counts = { requests: this.#requests.of(instance), time: this.#time.of(instance) }
    // Whoever asks for ever new paths must not fill the memory.
    if (this.#count++ < this.#most) {
      const methods = mapIn(this.#known, route)
      mapIn(methods, method).set(status, counts)
    }
    return counts
  }
}

function mapIn<Inner extends Map<unknown, unknown>>(map: Map<string, Inner>, key: string): Inner {
  const known = map.get(key) ?? (new Map() as Inner)
  map.set(key, known)
  return known
}
