/** The address of a Prometheus server with credentials from files, so that they are not in command lines. */
import { readFileSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'
import { basicAuthorization } from '../../net/http-client.ts'
import { type PrometheusServer, prometheusServer } from './client.ts'

/** A server as options and configurations name it. */
export interface NamedServer {
  readonly url: string
  /** File with a bearer token. */
  readonly tokenFile?: string | undefined
  /** File with `USER:PASSWORD`. */
  readonly loginFile?: string | undefined
  /** File with certificates of authorities, as PEM. */
  readonly caFile?: string | undefined
}

/** Reads the files of a server. EINVAL for an invalid URL or login, ENOENT and EACCES with the name of the file. */
export function readServer({ url, tokenFile, loginFile, caFile }: NamedServer): PrometheusServer {
  const login = loginFile === undefined ? undefined : textOf(loginFile)
  if (login !== undefined && !login.includes(':'))
    throw new PcpError('EINVAL', `${loginFile}: write USER:PASSWORD in one line`)
  const authorization =
    tokenFile !== undefined
      ? `Bearer ${textOf(tokenFile)}`
      : login === undefined
        ? undefined
        : basicAuthorization(login)
  if (authorization !== undefined && /[^\x20-\x7e]/.test(authorization))
    throw new PcpError('EINVAL', `${tokenFile}: write the token in one line of ASCII`)
  return prometheusServer(url, { authorization, ca: caFile === undefined ? undefined : textOf(caFile) })
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw PcpError.from(error, file)
  }
}
