/** What a request is answered with. docs/pmproxy.md */
import { VERSION } from '../../base/version.ts'
import { PcpError } from '../../model/errors.ts'
import { jsonText } from '../describe.ts'

/** An answer, before it is compressed and sent. */
export interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string | Uint8Array
  /** Besides those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer in JSON; the text ends in CR LF, as PCP's does. */
export function json(text: string, status = 200): Reply {
  return { status, type: 'application/json', body: `${text}\r\n` }
}

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

/** What a status means, in words. */
export function reasonOf(status: number): string {
  return REASONS[status] ?? 'Error'
}

/** Besides 503: when it is worth while to ask again, in seconds. */
export const BUSY_HEADERS: Readonly<Record<string, string>> = { 'Retry-After': '10' }

/** For what is no page of ours, but shown as one. */
const NOTHING_ALLOWED = { 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" }

/** A failure before a route could tell more: a page that names the part of the server and what is wrong. */
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

/** A parameter that a route cannot do without is missing. */
export function missing(servlet: string): Reply {
  return page(400, servlet, 'failed to process URL')
}

/** A failure of a route: `start` is what its answers begin with, members of an object in JSON. */
export function failure(error: unknown, start = ''): Reply {
  const { message, code, status } = PcpError.from(error)
  const about = `${start}"message":${jsonText(message)},"code":"${code}","status":${status}`
  return json(`{${about},"success":false}`, httpStatus(code))
}

/** A browser asks its user for name and password then, but not in place of a page whose key is old. */
export function whoAreYou(header = ''): Reply {
  const reply = json('{"message":"authentication required","success":false}', 401)
  const realm = 'realm="pmproxy"'
  const scheme = /^Bearer\b/i.test(header) ? 'Bearer' : 'Basic'
  return { ...reply, headers: { 'WWW-Authenticate': `${scheme} ${realm}` } }
}

/** Returns 403 for missing permission, 429 for too many failed logins, otherwise 400; routes send 401 themselves. */
function httpStatus(code: string): number {
  if (code === 'EAGAIN') return 429
  return code === 'PM_ERR_PERMISSION' || code === 'EACCES' ? 403 : 400
}
