/** Outgoing HTTP requests of this process, by node:http and by fetch (undici): items 120 to 139, domains 7 and 8. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Measurement, NodeContext } from './context.ts'
import { Durations } from './durations.ts'
import { ProcessInstances } from './family.ts'
import { asPart } from './route.ts'

/** Callbacks for outgoing requests of either client. */
interface Outgoing {
  begin(request: object, origin: string): void
  /** `outcome` is the status or `error`; ignored if the request has already ended. */
  end(request: object, outcome: string): void
}

/** Measures both HTTP clients of Node; other clients are included if they use node:http. */
export function openHttpClient(context: NodeContext): Measurement {
  const durations = new Durations(context, 'http.client.duration', {
    item: 120,
    serial: 8,
    what: 'Outgoing HTTP requests',
  })
  const active = context.gauge('http.client.active', 128, 'Outgoing HTTP requests in progress', {
    type: 'u32',
    initial: 0,
  })
  const help = 'Hosts and status codes of outgoing HTTP requests, by process'
  const origins = new ProcessInstances(context.writer, context.self, { serial: 7, help }, 300)
  const requests = origins.instances.counter('node.http.client.requests', {
    item: 130,
    help: 'Outgoing HTTP requests',
    text: 'Instances are PID::HOST::STATUS, with status `error` without an answer.',
  })
  const time = origins.instances.counter('node.http.client.time', {
    item: 131,
    help: 'Time from outgoing HTTP requests to their answers',
    units: 'microsec',
  })
  const begun = new WeakMap<object, { readonly origin: string; readonly start: number }>()
  const unlisten = listen(
    {
      begin(request, origin) {
        begun.set(request, { origin, start: performance.now() })
        active.inc()
      },
      end(request, outcome) {
        const known = begun.get(request)
        if (known === undefined) return
        begun.delete(request)
        const ms = performance.now() - known.start
        active.dec()
        durations.record(ms)
        const instance = origins.of(`${asPart(known.origin)}::${outcome}`)
        requests.of(instance).inc()
        time.of(instance).add(ms * 1000)
      },
    },
    context,
  )
  return { sample: () => durations.sample(), close: unlisten }
}

/** Subscribes to the channels of both clients. Returns a function that unsubscribes. */
function listen(outgoing: Outgoing, { report }: NodeContext): () => void {
  const handlers: { readonly [channel: string]: (message: never) => void } = {
    'http.client.request.start': ({ request }: { readonly request: ClientRequest }) => {
      outgoing.begin(request, hostOf(request))
      // Emitted in every case, also without an answer.
      request.once('close', () => outgoing.end(request, 'error'))
    },
    'http.client.response.finish': (message: {
      readonly request: ClientRequest
      readonly response: IncomingMessage
    }) => outgoing.end(message.request, String(message.response.statusCode)),
    'undici:request:create': ({ request }: { readonly request: { readonly origin?: unknown } }) =>
      outgoing.begin(request, String(request.origin).replace(/^https?:\/\//, '')),
    'undici:request:headers': (message: {
      readonly request: object
      readonly response: { readonly statusCode: number }
    }) => outgoing.end(message.request, String(message.response.statusCode)),
    'undici:request:error': ({ request }: { readonly request: object }) => outgoing.end(request, 'error'),
  }
  const listeners = Object.entries(handlers).map(([channel, handler]) => {
    const listener = (message: unknown): void => {
      try {
        handler(message as never)
      } catch (error) {
        report(error) // later versions of Node may change these messages
      }
    }
    subscribe(channel, listener)
    return [channel, listener] as const
  })
  return () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener)
  }
}

/** Host and, unless it is the default, port. */
function hostOf(request: ClientRequest): string {
  const header = request.getHeader('host')
  return typeof header === 'string' ? header : request.host
}
