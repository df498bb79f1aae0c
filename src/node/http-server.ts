/** HTTP requests served by this process, by method, route and status: items 100 to 119, domains 5 and 6. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import type { Counter, PerInstance } from '../mmv/index.ts'
import type { Measurement, NodeContext } from './context.ts'
import { Durations } from './durations.ts'
import { ProcessInstances } from './family.ts'
import { asPart, routeOf } from './route.ts'

const CHANNEL = 'http.server.request.start'
const MOST_ROUTES = 200

/** Counters of one route and status. */
interface RouteCounts {
  readonly requests: Counter
  readonly time: Counter
}

/** Start time of an answer, stored on the answer, which is cheaper than a closure or a map. */
const START = Symbol('pcp-ts.start')

interface Timed extends ServerResponse {
  [START]?: number | undefined
}

/** Measures all servers of node:http and node:https, with any framework. */
export function openHttpServer(context: NodeContext): Measurement {
  const { options } = context
  const durations = new Durations(context, 'http.server.duration', {
    item: 100,
    serial: 6,
    what: 'Answers to HTTP requests',
  })
  const active = context.gauge('http.server.active', 108, 'HTTP requests being served', {
    type: 'u32',
    initial: 0,
  })
  const aborted = context.counter(
    'http.server.aborted',
    109,
    'HTTP requests whose client disconnected before the answer',
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
  /** After the answer was sent or the connection was cut. One function for all answers. */
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

/** Counters by method, route and status. Looking up a known route builds no string. */
class RouteTable {
  readonly #family: ProcessInstances
  readonly #requests: PerInstance<Counter>
  readonly #time: PerInstance<Counter>
  readonly #known = new Map<string, Map<string, Map<number, RouteCounts>>>()
  readonly #most: number
  #count = 0

  constructor({ writer, self, options }: NodeContext) {
    this.#most = options.mostRoutes ?? MOST_ROUTES
    const help = 'Methods, routes and status codes of HTTP requests, by process'
    this.#family = new ProcessInstances(writer, self, { serial: 5, help }, this.#most)
    const { instances } = this.#family
    this.#requests = instances.counter('node.http.server.requests', {
      item: 110,
      help: 'HTTP requests served',
      text: 'Instances are PID::METHOD:ROUTE::STATUS; `other` combines those beyond the limit.',
    })
    this.#time = instances.counter('node.http.server.time', {
      item: 111,
      help: 'Time to serve HTTP requests',
      units: 'microsec',
    })
  }

  of(method: string, route: string, status: number): RouteCounts {
    return this.#known.get(route)?.get(method)?.get(status) ?? this.#add(method, route, status)
  }

  #add(method: string, route: string, status: number): RouteCounts {
    const instance = this.#family.of(`${method}:${asPart(route)}::${status}`)
    const counts = { requests: this.#requests.of(instance), time: this.#time.of(instance) }
    // A client that requests ever new paths must not fill the memory.
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
