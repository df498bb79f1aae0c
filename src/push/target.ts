/** Where archives are pushed to: a URL, or the unix socket of a server on this host. pmlogger(1), pmlogpush(1) */
import { readFileSync, statSync } from 'node:fs'
import { PcpError } from '../model/errors.ts'
import { basicAuthorization } from '../net/http-client.ts'
import { isLoopback } from '../net/loopback.ts'

/** A server, and the credentials for it. */
export interface PushTarget {
  /** Without credentials, for messages and requests. */
  readonly url: URL
  readonly socketPath?: string
  /** Value of the Authorization header. */
  readonly authorization?: string
}

const READ_BY_OTHERS = 0o077

/** Returns whether the name of an archive is the URL of a server. */
export function isPushUrl(archive: string): boolean {
  return /^https?:\/\//i.test(archive)
}

/**
 * Parses a URL, in which credentials may be: http://USER:PASSWORD@HOST:44322. `credentialFile` holds `USER:PASSWORD` or a token instead. EINVAL for a
 * malformed URL, EACCES for a file that others may read, and errors of reading it.
 */
export function pushTarget(text: string, credentialFile?: string): PushTarget {
  if (!isPushUrl(text) || !URL.canParse(text))
    throw new PcpError('EINVAL', 'The server must be a URL such as http://example.com:44322')
  const url = new URL(text)
  const { username, password } = url
  url.username = ''
  url.password = ''
  if (url.search !== '' || url.hash !== '')
    throw new PcpError('EINVAL', `${url.origin}: the URL of a server has no parameters`)
  const authorization =
    credentialFile !== undefined
      ? readCredentials(credentialFile)
      : username === ''
        ? undefined
        : basicAuthorization(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return authorization === undefined ? { url } : { url, authorization }
}

/** Returns a warning if credentials would cross a network unencrypted. */
export function plainWarning({ url, authorization }: PushTarget): string | undefined {
  if (authorization === undefined || url.protocol === 'https:' || isLoopback(url.hostname)) return undefined
  return `Credentials are sent unencrypted to ${url.host}: use https://`
}

function readCredentials(path: string): string {
  if ((statSync(path).mode & READ_BY_OTHERS) !== 0)
    throw new PcpError('EACCES', `${path} is accessible to other users: use chmod 600`)
  const [line = ''] = readFileSync(path, 'utf8').split('\n')
  const text = line.trim()
  if (text === '') throw new PcpError('EINVAL', `${path} must contain USER:PASSWORD or a token`)
  return text.includes(':') ? basicAuthorization(text) : `Bearer ${text}`
}
