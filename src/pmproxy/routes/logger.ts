/**
 * /logger: receives archives from `pmlogger http://...` and `pmlogpush` of PCP 7 and ours. docs/reference/pmproxy.md
 *
 *     POST label            a label record      → archive number N; with X-PCP-Archive-Id also the sizes received so far
 *     POST meta/N, index/N, volume/V/N  bytes   → they are on stable storage; with X-PCP-Offset also the size
 *     POST finish/N         sizes of all files  → they are complete; an extension
 */
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { type Part, parsePart } from '../../push/label-check.ts'
import type { PushReceiver } from '../../push/receiver.ts'
import { jsonText } from '../describe.ts'
import { userOf } from '../http/login.ts'
import { BUSY_HEADERS, failure, json, missingParameter, type Reply, unauthorized } from '../http/reply.ts'
import { MAX_TEXT_BODY, type WebRequest } from '../http/request.ts'
import type { Sender } from '../logger/senders.ts'
import type { Services } from '../services.ts'

/** Limits of 7.x: a larger body is 500 or, beyond the second, 400. */
const MAX_BODY = 10 * 1024 * 1024 - 1
const MAX_TRIED_BODY = 64 * 1024 * 1024
const MAX_LABEL = 64 * 1024
const MAX_VOLUME = 4999

const STATUSES: Readonly<Record<string, number>> = {
  PM_ERR_LABEL: 422,
  PM_ERR_FEATURE: 422,
  PM_ERR_LOGREC: 422,
  PM_ERR_PERMISSION: 403,
  EINVAL: 400,
  ESRCH: 410,
  EEXIST: 409,
  ERANGE: 409,
  EAGAIN: 429,
  EBUSY: 503,
  ENOSPC: 507,
  EDQUOT: 507,
}

/** Answers a request below /logger/; undefined for other paths, and on a server that accepts no archives. */
export async function answerLogger(request: WebRequest, services: Services): Promise<Reply | undefined> {
  const [, servlet, name = '', ...rest] = request.path.split('/')
  const { push } = services
  if (servlet !== 'logger' || push === undefined) return undefined
  const act = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
  if (act === undefined) return undefined
  if (request.method !== 'POST') return missingParameter('logger')
  try {
    const host = services.config.offeredHosts[0] ?? 'local:'
    const sender = await push.senders.identify(request, userOf(request, services), (user) =>
      services.contexts.open({ host, user }),
    )
    if (sender === undefined) return unauthorized(request.headers.authorization)
    return await act({ request, sender, receiver: push.receiver, rest })
  } catch (error) {
    if (!(error instanceof PcpError) && (error as { code?: unknown }).code === undefined) throw error
    const known = PcpError.from(error)
    if (!Object.hasOwn(STATUSES, known.code))
      services.log.notice('error', `${request.path}: ${known.message}`)
    const reply = failure(known, clientOf(request))
    if (reply.status === 401) return reply
    const status = STATUSES[known.code] ?? 500
    const headers = status === 429 || status === 503 ? BUSY_HEADERS : {}
    return { ...reply, status, headers }
  }
}

interface LoggerCall {
  readonly request: WebRequest
  readonly sender: Sender
  readonly receiver: PushReceiver
  /** Path behind the route's name. */
  readonly rest: readonly string[]
}

const ACTIONS: Readonly<Record<string, (call: LoggerCall) => Promise<Reply>>> = {
  label,
  meta: (call) => append(call, 'meta'),
  index: (call) => append(call, 'index'),
  volume: ({ rest: [text = '', ...rest], ...call }) => {
    const volume = parsePart(text)
    if (typeof volume !== 'number') throw new PcpError('EINVAL', 'The path lacks the number of a volume')
    if (volume > MAX_VOLUME) throw new PcpError('E2BIG', `Volumes have numbers up to ${MAX_VOLUME}`)
    return append({ ...call, rest }, volume)
  },
  finish,
}

async function label({ request, sender, receiver }: LoggerCall): Promise<Reply> {
  const id = headerOf(request, 'x-pcp-archive-id', /^[\w.-]{16,128}$/)
  const bytes = await bodyOf(request, MAX_LABEL)
  const timeout = request.query.get('polltimeout')
  const seconds = Number(timeout)
  if (timeout !== undefined && (/\s$/.test(timeout) || !(seconds >= 0)))
    throw new PcpError('EINVAL', `polltimeout must be a number of seconds, not ${timeout}`)
  const timeoutMs = timeout === undefined ? undefined : seconds * 1000
  const begun = await receiver.label({
    label: bytes,
    owner: sender.owner,
    allows: sender.allows,
    id,
    timeoutMs,
  })
  const more =
    id === undefined ? '' : `"sizes":${JSON.stringify(begun.sizes)},"finished":${begun.isFinished},`
  return json(`{"archive":${begun.number},${clientOf(request)}${more}"success":true}`)
}

async function append({ request, sender, receiver, rest }: LoggerCall, part: Part): Promise<Reply> {
  const number = numberOf(rest)
  const text = headerOf(request, 'x-pcp-offset', /^\d{1,15}$/)
  const offset = text === undefined ? undefined : Number(text)
  const bytes = await bodyOf(request, MAX_BODY)
  try {
    const size = await receiver.append(number, sender.owner, { part, offset, bytes })
    return json(`{${clientOf(request)}${offset === undefined ? '' : `"size":${size},`}"success":true}`)
  } catch (error) {
    const known = PcpError.from(error)
    if (known.code !== 'ERANGE') throw error
    return incomplete(known.message, number, { request, sender, receiver, rest })
  }
}

async function finish(call: LoggerCall): Promise<Reply> {
  const { request, sender, receiver, rest } = call
  const number = numberOf(rest)
  const sizes = parseSizes(decodeText(await bodyOf(request, MAX_TEXT_BODY)))
  const isDone = await receiver.finish(number, sender.owner, sizes)
  if (isDone) return json(`{${clientOf(request)}"success":true}`)
  return incomplete('The files have other sizes here', number, call)
}

/** Returns 409 with the sizes, from which the sender continues. */
function incomplete(why: string, number: number, { request, sender, receiver }: LoggerCall): Reply {
  const sizes = JSON.stringify(receiver.sizes(number, sender.owner))
  return json(`{${clientOf(request)}"message":${jsonText(why)},"sizes":${sizes},"success":false}`, 409)
}

/** Parses the body of a finish: sizes by the names of parts. EINVAL for anything else. */
export function parseSizes(text: string): Readonly<Record<string, number>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : undefined
  const isFine = ([name, size]: readonly [string, unknown]): boolean =>
    parsePart(name) !== undefined && Number.isSafeInteger(size)
  if (entries === undefined || Array.isArray(value) || !entries.every(isFine))
    throw new PcpError('EINVAL', 'The body must be an object of sizes by meta, index and volume numbers')
  return Object.fromEntries(entries) as Record<string, number>
}

function numberOf(rest: readonly string[]): number {
  const [text = ''] = rest
  const number = Number(text)
  if (rest.length !== 1 || !/^\d{1,10}$/.test(text) || number === 0 || number > 0x7fff_ffff)
    throw new PcpError('EINVAL', 'The path lacks the number of an archive')
  return number
}

function headerOf({ headers }: WebRequest, name: string, form: RegExp): string | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !form.test(value)) throw new PcpError('EINVAL', `${name} is malformed`)
  return value
}

async function bodyOf(request: WebRequest, limit: number): Promise<Uint8Array> {
  const { 'content-length': length = '0' } = request.headers
  if (Number(length) > MAX_TRIED_BODY) throw new PcpError('EINVAL', `The body has ${length} bytes`)
  if (Number(length) > limit) throw new PcpError('E2BIG', `The body has more than ${limit} bytes`)
  const bytes = await request.body(limit)
  if (bytes.length === 0) throw new PcpError('EINVAL', 'The body is empty')
  return bytes
}

function clientOf({ query }: WebRequest): string {
  const client = query.get('client')
  return client === undefined ? '' : `"client":${jsonText(client)},`
}
