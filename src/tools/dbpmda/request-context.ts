/** Sends requests to an agent and shows errors. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { PrintOptions } from '../../model/print.ts'
import type { Ask, MetricSource } from '../../model/source.ts'
import type { Zone } from '../../time/zone.ts'

/** Context for executing a request. */
export interface RequestContext {
  readonly source: MetricSource
  readonly ask: Ask
  /** The agent's domain; 0 if unknown. */
  readonly domain: number
  /** The agent runs in this process. */
  readonly isLocal: boolean
  readonly getdesc: boolean
  readonly getiname: boolean
  readonly zone: Zone
  readonly print: PrintOptions
  readonly namesOf: (id: Pmid) => readonly string[]
  readonly say: (text: string) => void
  /** Measures the time until the reply. */
  readonly time: <T>(answer: Promise<T>) => Promise<T>
  /** Shows an agent's error; `call` is PCP's name of the request. */
  readonly failed: (error: PcpError, call: string) => void
  /** Returns whether the profile has to be sent before the next fetch, and marks it as sent. */
  readonly sendsProfile: () => boolean
}

/** Returns the reply; on an error shows it and returns undefined. */
export async function replyOf<T>(
  question: Promise<T>,
  call: string,
  { time, failed }: Pick<RequestContext, 'time' | 'failed'>,
): Promise<T | undefined> {
  try {
    return await time(question)
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    failed(error, call)
    return undefined
  }
}

/** Returns a metric's descriptor; on an error shows it and returns undefined. */
export async function descOf(id: Pmid, context: RequestContext): Promise<MetricDesc | undefined> {
  const descs = await replyOf(context.source.descs([id], context.ask), 'desc', context)
  const desc = descs?.[0]
  if (desc === undefined || !isError(desc)) return desc
  context.failed(desc, 'desc')
  return undefined
}
