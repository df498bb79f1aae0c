/** /ui/api/changes: what changed in a span of an archive against the time before. docs/reference/pmproxy.md */
import { MOST_CHANGES } from '../../analysis/what-changed.ts'
import { PcpError } from '../../model/errors.ts'
import { changesOf } from '../../pmapi/what-changed.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import type { Query } from '../http/query.ts'
import { json, type Reply } from '../http/reply.ts'
import { moment, type PageCall, wholeNumber } from './page-call.ts'
import { timeLimit } from './time-limit.ts'

const DEFAULT_CHANGES = 30

/** Handles the route. PM_ERR_ARG for invalid windows; PM_ERR_TIMEOUT if reading takes too long. */
export async function changes({ request, context }: PageCall): Promise<Reply> {
  const { query, signal } = request
  const span = { start: required(query, 'start'), finish: required(query, 'finish') }
  const hasOther = query.get('before') !== undefined
  const before = hasOther
    ? { start: required(query, 'before'), finish: moment(query.get('until'), 'until', span.start) }
    : undefined
  const limit = wholeNumber(query.get('limit'), 'limit', DEFAULT_CHANGES, MOST_CHANGES)
  const check = timeLimit(signal, 'Reading the windows takes too long; compare shorter ones')
  const turn = async (): Promise<void> => {
    await yieldToEventLoop()
    check()
  }
  return json(JSON.stringify(await changesOf(context, { span, before, limit }, { signal, turn })))
}

function required(query: Query, name: string): number {
  const text = query.get(name)
  if (text === undefined || text === '')
    throw new PcpError('PM_ERR_ARG', `${name} is required: a time in seconds since the epoch`)
  return moment(text, name, 0)
}
