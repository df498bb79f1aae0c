/** Options of an application or its environment. docs/how-to/instrument-node.md */
import type { MmvLabels } from '../mmv/index.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import { parseInterval } from '../time/interval.ts'

/** Groups of measurements that can be left out. */
export type PartName =
  | 'eventloop'
  | 'memory'
  | 'gc'
  | 'process'
  | 'resources'
  | 'http.server'
  | 'http.client'
  | 'workers'

/** A request of node:http, declared here so that the types of this package depend on no others. */
export interface RoutedRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** An answer of node:http. */
export interface RoutedResponse {
  readonly statusCode: number
}

/** Options of `register`. */
export interface RegisterOptions {
  /** Name beside the PID. Default: the name of the script. */
  readonly name?: string
  /** Directory of the file. Default: where agents look, see docs/how-to/instrument-node.md. */
  readonly directory?: string
  /** Milliseconds between readings of values that are not counted as they occur. Default 1000. */
  readonly intervalMs?: number
  /** Labels of this process. */
  readonly labels?: MmvLabels
  /** Diagnostics channels whose messages are counted; `tracing:NAME` counts and times the calls of a tracing channel. */
  readonly channels?: readonly string[]
  /** Groups of measurements to leave out. */
  readonly without?: readonly PartName[]
  /**
   * Returns the route of a request. Default, also for undefined: the route found by Express or a similar framework,
   * otherwise the path with `:id` for segments that look like identifiers. The arguments are the objects of node:http.
   */
  routeOf?(request: RoutedRequest, response: RoutedResponse): string | undefined
  /** Most combinations of route, method and status code, at most 500; further ones are `other`. Default 200. */
  readonly mostRoutes?: number
}

const PARTS: readonly PartName[] = [
  'eventloop',
  'memory',
  'gc',
  'process',
  'resources',
  'http.server',
  'http.client',
  'workers',
]

/**
 * Reads options from the environment: PCP_NODE_NAME, PCP_NODE_DIRECTORY, PCP_NODE_INTERVAL ('500 msec'), PCP_NODE_LABELS
 * (`a=b,c=d`), PCP_NODE_CHANNELS and PCP_NODE_WITHOUT (comma-separated lists). EINVAL names an invalid variable.
 */
export function optionsFrom(env: Variables): RegisterOptions {
  const list = (name: string): readonly string[] | undefined =>
    env[name]
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  const labels = list('PCP_NODE_LABELS')
  const without = list('PCP_NODE_WITHOUT')
  const channels = list('PCP_NODE_CHANNELS')
  const interval = env['PCP_NODE_INTERVAL']
  const name = env['PCP_NODE_NAME']
  const directory = env['PCP_NODE_DIRECTORY']
  return {
    ...(name === undefined ? {} : { name }),
    ...(directory === undefined ? {} : { directory }),
    ...(interval === undefined ? {} : { intervalMs: intervalMs(interval) }),
    ...(labels === undefined ? {} : { labels: Object.fromEntries(labels.map(labelOf)) }),
    ...(channels === undefined ? {} : { channels }),
    ...(without === undefined ? {} : { without: without.map(partOf) }),
  }
}

function intervalMs(text: string): number {
  try {
    const { sec, nsec } = parseInterval(text)
    const ms = sec * 1000 + nsec / 1e6
    if (ms >= 10) return ms
  } catch {
    // Reported below.
  }
  throw new PcpError('EINVAL', `PCP_NODE_INTERVAL: "${text}" is not an interval of at least 10 msec`)
}

function labelOf(text: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z]\w*)=(.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new PcpError('EINVAL', `PCP_NODE_LABELS: "${text}" is not NAME=VALUE`)
}

function partOf(text: string): PartName {
  const part = PARTS.find((name) => name === text)
  if (part !== undefined) return part
  throw new PcpError('EINVAL', `PCP_NODE_WITHOUT: "${text}" is not one of ${PARTS.join(', ')}`)
}
