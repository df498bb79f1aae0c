/** Finds the context and the user of an API request. docs/reference/pmproxy.md */
import { errStr, PcpError } from '../../model/errors.ts'
import type { WebContext } from '../contexts.ts'
import { jsonText } from '../describe.ts'
import { requireUser, userOf } from '../http/login.ts'
import type { Query } from '../http/query.ts'
import { failure, json, type Reply } from '../http/reply.ts'
import type { WebRequest } from '../http/request.ts'
import type { Services } from '../services.ts'
import { isNamed, type WebUser } from '../web-user.ts'

/** A parsed request below /pmapi. */
export interface ApiCall {
  readonly request: WebRequest
  /** Parameters of the URL or of a urlencoded body. */
  readonly query: Query
  readonly services: Services
  /** The context number in the path. */
  readonly contextId: string | undefined
  /** `/pmapi/_fetch` and others: responses in an older format. */
  readonly isCompatible: boolean
}

/** A call with its context. */
export interface ContextCall extends ApiCall {
  readonly web: WebContext
  /** Start of the response: `"context":12,"client":"x",`. */
  readonly start: string
}

/** A route: what it requires before there is a context, and its action. */
export interface ApiRoute {
  /** Parameters of which one is required. */
  readonly needs?: readonly string[]
  /** Accepts POST with a body instead of parameters. */
  readonly takesBody?: boolean
  /** Validates the parameters before there is a context; throws a PcpError. */
  readonly check?: (query: Query) => void
  readonly act: (call: ContextCall) => Promise<Reply>
}

/**
 * Runs an action with the context of a call, or with a new one. Errors are returned as JSON, with the context's number if there is one.
 */
export async function withContext(call: ApiCall, act: (call: ContextCall) => Promise<Reply>): Promise<Reply> {
  const { request, query, services, contextId, isCompatible } = call
  const client = query.get('client')
  const clientText = client === undefined ? '' : `"client":${jsonText(client)},`
  const given = query.get('context') ?? contextId
  let web: WebContext
  try {
    const user = userOf(request, services)
    if (user === null) return json('{"message":"(none)","success":false}', 401)
    if (!isNamed(user) && services.config.requiresUser)
      throw new PcpError('PM_ERR_PERMISSION', 'authentication required')
    web = given === undefined ? await make(call, user) : await reuse(given, user, call)
  } catch (error) {
    const isNamed = /^\d{1,10}$/.test(given ?? '') && !request.path.endsWith('context')
    return failure(error, isNamed ? `"context":${Number(given)},${clientText}` : clientText, 'pmapi')
  }
  const start = `"context":${web.id},${clientText}`
  try {
    // Not `...call`, because adding members to a copy takes V8 10 µs. docs/decisions/web-server.md
    return await act({ request, query, services, contextId, isCompatible, web, start })
  } catch (error) {
    return failure(error, start, `pmapi/${web.id}`)
  } finally {
    services.contexts.release(web)
  }
}

async function make({ query, services, request }: ApiCall, user: WebUser): Promise<WebContext> {
  const timeout = query.get('polltimeout') || undefined
  const seconds = Number(timeout)
  if (timeout !== undefined && (/\s$/.test(timeout) || !(seconds >= 0) || !Number.isFinite(seconds)))
    throw new PcpError('PM_ERR_ARG', 'invalid timeout requested in polltime')
  const archive = query.get('archive')
  const host = query.get('hostspec', 'hostname', 'host')
  if (archive !== undefined && request.origin !== undefined)
    throw new PcpError('PM_ERR_PERMISSION', 'only pages of this server may read archives')
  if (archive !== undefined) await requireUser(services, user, true)
  try {
    return await services.contexts.make({
      ...(archive === undefined ? {} : { archive }),
      ...(host === undefined ? {} : { host }),
      ...(timeout === undefined ? {} : { timeoutMs: seconds * 1000 }),
      user,
      origin: request.origin,
      address: request.address,
    })
  } catch (error) {
    if (archive !== undefined) throw error
    throw connectFailure(error)
  }
}

/** Returns a connection error with PCP's text, which clients match. Errors in a specification keep their text. */
function connectFailure(error: unknown): PcpError {
  const known = PcpError.from(error)
  if (known.status === new PcpError('PM_ERR_GENERIC').status || known.code === 'PM_ERR_PERMISSION')
    return known
  return new PcpError(known.code, `cannot connect to PMCD: ${errStr(known.status)}`, { cause: error })
}

function reuse(id: string, user: WebUser, { services, request }: ApiCall): Promise<WebContext> {
  if (!/^-?\d*$/.test(id)) throw new PcpError('PM_ERR_NOCONTEXT', `invalid context identifier: ${id}`)
  return services.contexts.use(Number(id), user, request.origin)
}
