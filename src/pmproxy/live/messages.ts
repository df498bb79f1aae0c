/** Parses messages of pages on a live stream. docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { WatchRequest } from './watched-topics.ts'

/** A checked subscription request. */
export interface Subscription extends WatchRequest {
  readonly key: string
  readonly host: string
  /** Seconds. */
  readonly every: number
}

const MOST_METRICS = 1000
const MOST_TEXT = 4096
/** Minimum and maximum interval, seconds. */
const SHORTEST = 0.2
const LONGEST = 3600

/** Parses a message; without `wish` it ends a subscription. Throws PM_ERR_ARG with the reason if it is invalid. */
export function parseMessage(text: string, defaultHost: string): { key: string; wish?: Subscription } {
  const message = object(parseJson(text), 'a message')
  const { subscribe, unsubscribe, host = defaultHost, every = 1, metrics, derive = {}, past } = message
  if (unsubscribe !== undefined) return { key: shortText(unsubscribe, 'unsubscribe') }
  const key = shortText(subscribe, 'subscribe')
  if (typeof every !== 'number' || !(every >= SHORTEST && every <= LONGEST))
    throw bad(`every must be a number of seconds from ${SHORTEST} to ${LONGEST}`)
  if (!Array.isArray(metrics) || metrics.length === 0 || metrics.length > MOST_METRICS)
    throw bad(`metrics must be a list of 1 to ${MOST_METRICS} names`)
  const expressions: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, expression] of Object.entries(object(derive, 'derive')))
    expressions[name] = shortText(expression, `the expression of ${name}`)
  return {
    key,
    wish: {
      key,
      host: shortText(host, 'host'),
      every,
      metrics: metrics.map((name) => shortText(name, 'a metric')),
      derive: expressions,
      past: past === true,
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('a message must be a JSON object')
  }
}

/** Returns the key of an invalid message, to which its error refers. */
export function keyOf(text: string): string | null {
  try {
    const { subscribe } = JSON.parse(text) as { subscribe?: unknown }
    return typeof subscribe === 'string' ? subscribe.slice(0, MOST_TEXT) : null
  } catch {
    return null
  }
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw bad(`${what} must be an object`)
}

function shortText(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= MOST_TEXT) return value
  throw bad(`${what} must be a string of 1 to ${MOST_TEXT} characters`)
}

function bad(what: string): PcpError {
  return new PcpError('PM_ERR_ARG', what)
}
