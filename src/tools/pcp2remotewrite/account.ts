/** The file with the account of a receiver: settings NAME = VALUE, one a line. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { basicAuthorization, type TlsFiles } from '../../net/http-client.ts'

/** What the file sets. */
export interface Account {
  /** Instead of --url. */
  readonly url: string | undefined
  /** Returns the headers of a request; a file with a token is read again each time. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly tls: TlsFiles
}

/** Settings besides `header.NAME`. */
const KEYS = new Set(['url', 'user', 'password', 'bearer_token', 'bearer_token_file', 'ca', 'cert', 'key'])

/** Reads the file. EINVAL names the line or setting that is wrong; the errno for files that cannot be read. */
export function readAccount(path: string): Account {
  const settings = new Map<string, string>()
  const fixed: Record<string, string> = {}
  for (const [i, line] of readText(path).split('\n').entries()) {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) continue
    const [, name = '', value = ''] = /^([\w.-]+)\s*=\s*(.*)$/.exec(text) ?? []
    const header = /^header\.([\w-]+)$/.exec(name)?.[1]
    if (header !== undefined) fixed[header] = value
    else if (KEYS.has(name)) settings.set(name, value)
    else
      throw new PcpError(
        'EINVAL',
        `${path}: line ${i + 1}: expected NAME = VALUE with one of ${[...KEYS].join(', ')}, header.NAME`,
      )
  }
  const user = settings.get('user')
  const token = settings.get('bearer_token')
  const tokenFile = settings.get('bearer_token_file')
  if ([user, token, tokenFile].filter((each) => each !== undefined).length > 1)
    throw new PcpError('EINVAL', `${path}: set one of user, bearer_token and bearer_token_file`)
  if (user !== undefined)
    fixed['Authorization'] = basicAuthorization(`${user}:${settings.get('password') ?? ''}`)
  if (token !== undefined) fixed['Authorization'] = `Bearer ${token}`
  const near = (name: string): string => resolve(dirname(path), name)
  const headers = (): Readonly<Record<string, string>> =>
    tokenFile === undefined
      ? fixed
      : { ...fixed, Authorization: `Bearer ${readText(near(tokenFile)).trim()}` }
  headers() // fails now rather than later
  const tls = Object.fromEntries(
    ['ca', 'cert', 'key'].flatMap((key) => {
      const file = settings.get(key)
      return file === undefined ? [] : [[key, readText(near(file))]]
    }),
  )
  return { url: settings.get('url'), headers, tls }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, path)
  }
}
