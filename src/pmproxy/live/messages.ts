/** What pages send over a live stream, taken apart. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { Wish } from './feed.ts'

/** A subscription as a page sends it, checked. */
export interface Subscription extends Wish {
  readonly key: string
  readonly host: string
  /** Seconds. */
  readonly every: number
}

const MOST_METRICS = 1000
const MOST_TEXT = 4096
/** Shortest and longest interval, seconds. */
const SHORTEST = 0.2
const LONGEST = 3600

/** Takes a message apart; one without a wish ends a subscription. PM_ERR_ARG says what is wrong with it. */
export function parseMessage(text: string, defaultHost: string): { key: string; wish?: Subscription } {
  const message = object(parseJson(text), 'a message')
  const { subscribe, unsubscribe, host = defaultHost, every = 1, metrics, derive = {} } = message
  if (unsubscribe !== undefined) return { key: shortText(unsubscribe, 'unsubscribe') }
  const key = shortText(subscribe, 'subscribe')
  if (typeof every !== 'number' || !(every >= SHORTEST && every <= LONGEST))
    throw bad(`every is a number of seconds from ${SHORTEST} to ${LONGEST}`)
  if (!Array.isArray(metrics) || metrics.length === 0 || metrics.length > MOST_METRICS)
    throw bad(`metrics is a list of 1 to ${MOST_METRICS} names`)
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
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('a message is an object in JSON')
  }
}

/** What an error can be about when the message was not understood. */
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
  throw bad(`${what} is an object`)
}

function shortText(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= MOST_TEXT) return value
  throw bad(`${what} is a text of 1 to ${MOST_TEXT} characters`)
}

function bad(what: string): PcpError {
  return new PcpError('PM_ERR_ARG', what)
}
