/** /ui/api/fleet and /ui/api/fleet-range: all hosts of the archives; /ui/api/fleet-live: hosts without any. docs/reference/pmproxy.md */
import type { Aggregate } from '../../archive/fleet/bucket-means.ts'
import { encodeFleetRange } from '../../archive/fleet/bytes.ts'
import { PcpError } from '../../model/errors.ts'
import type { Fleet, FleetRequest } from '../fleet/fleet.ts'
import type { LiveFleet } from '../fleet/live-fleet.ts'
import { ReadingTime } from '../fleet/reading-time.ts'
import type { Query } from '../http/query.ts'
import { json, type Reply } from '../http/reply.ts'
import type { WebRequest } from '../http/request.ts'
import { isNamed, type WebUser } from '../web-user.ts'
import { moment, wholeNumber } from './page-call.ts'

/** Reading time of a request, ms; the next request continues. */
const MOST_MS = 8000
const MOST_BUCKETS = 1000
const DEFAULT_BUCKETS = 300
const MOST_TOP = 1000
const DEFAULT_TOP = 10
/** Default seconds of the window. */
const WINDOW_SEC = 3600

/** Widths of buckets, in seconds. Times are multiples of them, so that a later request finds the same buckets. */
const STEPS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400]
const AGGREGATES: readonly Aggregate[] = ['sum', 'mean', 'max', 'min']

/** A request about the fleet. */
export interface FleetCall {
  readonly request: Pick<WebRequest, 'query' | 'signal'>
  readonly fleet: Fleet
  readonly user: WebUser
}

/** Answers /ui/api/fleet-live: the health of collectors by their live values. */
export async function answerLiveFleet(query: Query, live: LiveFleet, user: WebUser): Promise<Reply> {
  return json(JSON.stringify(await live.health(query.all('host'), user)))
}

/** Answers /ui/api/fleet. PM_ERR_ARG for invalid times. */
export async function fleetHealth({ request: { query, signal }, fleet }: FleetCall): Promise<Reply> {
  const at = moment(query.get('at'), 'at', Date.now() / 1000)
  const { start, finish } = windowOf(query, at)
  return json(JSON.stringify(await fleet.health(at, { start, finish }, new ReadingTime(signal, MOST_MS))))
}

/** Answers /ui/api/fleet-range. PM_ERR_ARG for an invalid request. */
export async function fleetRange({ request: { query, signal }, fleet, user }: FleetCall): Promise<Reply> {
  const body = encodeFleetRange(
    await fleet.range(requestOf(query, isNamed(user)), new ReadingTime(signal, MOST_MS)),
  )
  return { status: 200, type: 'application/octet-stream', body }
}

/** Parses a request. PM_ERR_ARG for an invalid one. */
function requestOf(query: Query, seesProcesses: boolean): FleetRequest {
  const [metric, figure, aggregate] = [query.get('metric'), query.get('figure'), query.get('aggregate')]
  const name = metric ?? figure
  if (name === undefined || (metric !== undefined && figure !== undefined))
    throw new PcpError('PM_ERR_ARG', 'Either metric=NAME or figure=ID is required')
  const how = AGGREGATES.find((each) => each === aggregate)
  if (aggregate !== undefined && how === undefined)
    throw new PcpError('PM_ERR_ARG', `aggregate must be one of ${AGGREGATES.join(', ')}, not ${aggregate}`)
  const { start, finish } = windowOf(query, Date.now() / 1000)
  if (!(finish > start)) throw new PcpError('PM_ERR_ARG', 'finish must be after start')
  const most = Math.max(1, wholeNumber(query.get('buckets'), 'buckets', DEFAULT_BUCKETS, MOST_BUCKETS))
  return {
    name,
    isFigure: metric === undefined,
    instance: query.get('instance'),
    aggregate: how,
    ...bucketsOf(start, finish, most),
    top: wholeNumber(query.get('top'), 'top', DEFAULT_TOP, MOST_TOP),
    seesProcesses,
  }
}

function bucketsOf(
  start: number,
  finish: number,
  most: number,
): Pick<FleetRequest, 'start' | 'step' | 'buckets'> {
  const least = (finish - start) / most
  const day = STEPS.at(-1)!
  const step = STEPS.find((each) => each >= least) ?? day * Math.ceil(least / day)
  const first = Math.floor(start / step)
  return { start: first * step, step, buckets: Math.ceil(finish / step) - first }
}

/** Parses the window of a request, which ends at `end` by default. PM_ERR_ARG for invalid times. */
function windowOf(query: Query, end: number): { readonly start: number; readonly finish: number } {
  const finish = moment(query.get('finish'), 'finish', end)
  return { start: moment(query.get('start'), 'start', finish - WINDOW_SEC), finish }
}
