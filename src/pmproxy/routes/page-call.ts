/** Parses requests of the chart page. docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { WebRequest } from '../http/request.ts'
import type { Services } from '../services.ts'

/** Maximum number of names in a request. */
export const MOST_NAMES = 1000

/** A request and its source. */
export interface PageCall {
  readonly request: Pick<WebRequest, 'query' | 'signal'>
  readonly context: Context
  readonly services: Pick<Services, 'archives' | 'search'>
  /** Identifies the source. */
  readonly key: string
}

/** Returns the names of a request. PM_ERR_ARG for none or too many. */
export function namesOf({ query }: Pick<WebRequest, 'query'>): readonly string[] {
  const asked = query.list('names', 'name') ?? []
  if (asked.length === 0 || asked.length > MOST_NAMES)
    throw new PcpError(
      'PM_ERR_ARG',
      `names must be a list of 1 to ${MOST_NAMES} metrics, separated by commas`,
    )
  return asked
}

/** Parses a whole number up to `most`. PM_ERR_ARG for anything else. */
export function wholeNumber(text: string | undefined, what: string, byDefault: number, most: number): number {
  if (text === undefined) return byDefault
  const number = Number(text)
  if (/^\d{1,16}$/.test(text) && number <= most) return number
  throw new PcpError('PM_ERR_ARG', `${what} must be a whole number up to ${most}, not ${text}`)
}

/** Parses a time in seconds since the epoch. PM_ERR_ARG for anything else. */
export function moment(text: string | undefined, what: string, byDefault: number): number {
  if (text === undefined || text === '') return byDefault
  const seconds = Number(text)
  if (Number.isFinite(seconds) && Math.abs(seconds) < 1e11) return seconds
  throw new PcpError('PM_ERR_ARG', `${what} must be a time in seconds since the epoch, not ${text}`)
}
