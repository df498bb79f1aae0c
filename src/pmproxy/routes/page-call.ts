/** Requests of the chart page, taken apart. docs/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { WebRequest } from '../http/request.ts'
import type { Services } from '../services.ts'

/** Names that one request may list. */
export const MOST_NAMES = 1000

/** A request with the source it names. */
export interface PageCall {
  readonly request: Pick<WebRequest, 'query' | 'signal'>
  readonly context: Context
  readonly services: Pick<Services, 'search'>
  /** Names the source. */
  readonly key: string
}

/** The names of a request. PM_ERR_ARG for none or too many. */
export function namesOf({ query }: Pick<WebRequest, 'query'>): readonly string[] {
  const asked = query.list('names', 'name') ?? []
  if (asked.length === 0 || asked.length > MOST_NAMES)
    throw new PcpError('PM_ERR_ARG', `names is a list of 1 to ${MOST_NAMES} metrics, separated by commas`)
  return asked
}

/** A whole number up to `most`. PM_ERR_ARG for anything else. */
export function whole(text: string | undefined, what: string, byDefault: number, most: number): number {
  if (text === undefined) return byDefault
  const number = Number(text)
  if (/^\d{1,16}$/.test(text) && number <= most) return number
  throw new PcpError('PM_ERR_ARG', `${what} is a whole number up to ${most}, not ${text}`)
}
