/** What an application, or its environment, chooses. docs/guide/node.md */
import type { MmvLabels } from '../mmv/index.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import { parseInterval } from '../time/interval.ts'

/** What can be left out. */
export type PartName =
  | 'eventloop'
  | 'memory'
  | 'gc'
  | 'process'
  | 'resources'
  | 'http.server'
  | 'http.client'
  | 'workers'

/** A request of node:http: declared here so that the types of this package need no others. */
export interface AnsweredRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** An answer of node:http. */
export interface AnswerGiven {
  readonly statusCode: number
}

/** How this process is measured. */
export interface RegisterOptions {
  /** How it is called beside its process number. Default: the name of its script. */
  readonly name?: string
  /** Where the file goes. Default: where agents look, see docs/guide/node.md. */
  readonly directory?: string
  /** Milliseconds from one reading of what is not counted as it happens to the next. Default 1000. */
  readonly intervalMs?: number
  /** Labels of this process. */
  readonly labels?: MmvLabels
  /** Diagnostics channels whose messages are counted; `tracing:NAME` for what a tracing channel traces, with its time. */
  readonly channels?: readonly string[]
  /** Parts that are left out. */
  readonly without?: readonly PartName[]
  /**
   * The route of a request that was answered; undefined for the default: what Express and its like found, otherwise the
   * path with `:id` for what looks like an identifier. What it gets are the objects of node:http.
   */
  routeOf?(request: AnsweredRequest, response: AnswerGiven): string | undefined
  /** Routes, methods and status codes that are told apart, at most 500; later ones are `other`. Default 200. */
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
 * Options of the environment: PCP_NODE_NAME, PCP_NODE_DIRECTORY, PCP_NODE_INTERVAL ('500 msec'), PCP_NODE_LABELS (`a=b,c=d`),
 * PCP_NODE_CHANNELS and PCP_NODE_WITHOUT (lists with commas). EINVAL names a variable that cannot be understood.
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
    // Told below.
  }
  throw new PcpError('EINVAL', `PCP_NODE_INTERVAL: "${text}" is no interval of 10 msec or more`)
}

function labelOf(text: string): readonly [string, string] {
  const [, name, value] = /^([A-Za-z]\w*)=(.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new PcpError('EINVAL', `PCP_NODE_LABELS: "${text}" is not NAME=VALUE`)
}

function partOf(text: string): PartName {
  const part = PARTS.find((name) => name === text)
  if (part !== undefined) return part
  throw new PcpError('EINVAL', `PCP_NODE_WITHOUT: "${text}" is none of ${PARTS.join(', ')}`)
}
