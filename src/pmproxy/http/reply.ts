/** Replies to requests. docs/reference/pmproxy.md */
import { VERSION } from '../../base/version.ts'
import { type ErrorCode, PcpError } from '../../model/errors.ts'
import { jsonText } from '../describe.ts'
import type { FileCoding } from './encode.ts'

/** A reply before it is compressed and sent. */
export interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
  /** The content coding of `body`, which is then sent unchanged; `identity` for a file that is not worth compressing. */
  readonly coding?: FileCoding | 'identity'
  /** In addition to the headers of every response. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns a JSON reply; like PCP's, it ends in CR LF. */
export function json(text: string, status = 200): Reply {
  return { status, type: JSON_TYPE, body: `${text}\r\n` }
}

/** Returns a JSON reply of encoded text, which has its CR LF. */
export function jsonBytes(body: Uint8Array): Reply {
  return { status: 200, type: JSON_TYPE, body }
}

const JSON_TYPE = 'application/json'

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
}

/** Returns the reason phrase of a status. */
export function reasonOf(status: number): string {
  return REASONS[status] ?? 'Error'
}

/** Sent with 503: seconds until a retry makes sense. */
export const BUSY_HEADERS: Readonly<Record<string, string>> = { 'Retry-After': '10' }

/** For error pages, which need no resources. */
const NOTHING_ALLOWED = { 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" }

/** Returns an error page for a failure outside of a route, with the part of the server and the reason. */
export function page(status: number, servlet: string, what: string): Reply {
  const title = `${status} ${reasonOf(status)}`
  const lines = [
    '<html>',
    `<head><title>${title}</title></head>`,
    '<body>',
    `<h1>${title}</h1>`,
    `<p><b>${servlet} servlet</b>: ${what}</p><hr>`,
    `<p><small><i>pmproxy/${VERSION}</i></small></p>`,
    '</body>',
    '</html>',
    '',
  ]
  const body = lines.join('\r\n')
  return { status, type: 'text/html', body, headers: NOTHING_ALLOWED }
}

/** Returns the reply for a missing required parameter. */
export function missingParameter(servlet: string): Reply {
  return page(400, servlet, 'failed to process URL')
}

/**
 * Returns the reply for a route's failure; `start` holds the first members of the JSON object. A login that the collector wants or rejects is
 * 401, for which a browser prompts.
 */
export function failure(error: unknown, start = '', realm = 'pmproxy'): Reply {
  const known = PcpError.from(error)
  const { message, code, status } = known
  const about = `${start}"message":${jsonText(message)},"code":"${code}","status":${status}`
  const reply = json(`{${about},"success":false}`, httpStatus(known))
  return reply.status === 401 ? { ...reply, headers: challenge('Basic', realm) } : reply
}

/** Returns a reply with another status, for which a browser does not prompt. */
export function withoutChallenge({ headers: _, ...reply }: Reply, status: number): Reply {
  return { ...reply, status }
}

/** Returns 401, for which a browser prompts for a login; a page with an outdated key is not prompted. */
export function unauthorized(header = ''): Reply {
  const reply = json('{"message":"authentication required","success":false}', 401)
  return { ...reply, headers: challenge(/^Bearer\b/i.test(header) ? 'Bearer' : 'Basic', 'pmproxy') }
}

const challenge = (scheme: string, realm: string): Readonly<Record<string, string>> => ({
  'WWW-Authenticate': `${scheme} realm="${realm}"`,
})

/** The collector's reasons to reject a login. Others, such as a protocol error, do not depend on user and password. */
const LOGIN_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SASL_BADAUTH',
  'SASL_NOAUTHZ',
  'SASL_EXPIRED',
  'SASL_DISABLED',
  'SASL_NOUSER',
])

/** Returns 401 for a missing or rejected login, 403 for missing permission, 429 for too many failed logins, otherwise 400. */
export function httpStatus({ code, reason }: PcpError): number {
  if (code === 'EAGAIN') return 429
  if (reason === 'login-required' || LOGIN_ERRORS.has(code)) return 401
  return code === 'PM_ERR_PERMISSION' || code === 'EACCES' ? 403 : 400
}
