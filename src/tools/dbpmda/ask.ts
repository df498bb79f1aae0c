/** Asking an agent, and saying why it refuses. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { PrintOptions } from '../../model/print.ts'
import type { Ask, MetricSource } from '../../model/source.ts'
import type { Zone } from '../../time/zone.ts'

/** What carrying out a request needs. */
export interface RequestContext {
  readonly source: MetricSource
  readonly ask: Ask
  /** The agent's domain; 0 where it is not known. */
  readonly domain: number
  /** The agent is in this process. */
  readonly isLocal: boolean
  readonly getdesc: boolean
  readonly getiname: boolean
  readonly zone: Zone
  readonly print: PrintOptions
  readonly namesOf: (id: Pmid) => readonly string[]
  readonly say: (text: string) => void
  /** Counts the time until the answer. */
  readonly time: <T>(answer: Promise<T>) => Promise<T>
  /** Shows why the agent refused; `call` is what PCP calls the request. */
  readonly failed: (error: PcpError, call: string) => void
  /** Must the agent be told the profile with the next fetch? From then on it has been. */
  readonly sendsProfile: () => boolean
}

/** The answer, or undefined when the agent refuses, which is then shown. */
export async function answer<T>(
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

/** The descriptor of a metric; undefined when the agent has none, which is then shown. */
export async function descOf(id: Pmid, context: RequestContext): Promise<MetricDesc | undefined> {
  const descs = await answer(context.source.descs([id], context.ask), 'desc', context)
  const desc = descs?.[0]
  if (desc === undefined || !isError(desc)) return desc
  context.failed(desc, 'desc')
  return undefined
}
