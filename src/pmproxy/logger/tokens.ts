/** Tokens of programs that push archives: a file with a token per line, and the hosts whose archives it may push. docs/reference/pmproxy.md */
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { PcpError } from '../../model/errors.ts'

/** Shorter ones could be guessed. */
const MIN_TOKEN = 16
const MAX_FILE = 1 << 20
const READ_BY_OTHERS = 0o007

/** A token without its text. */
export interface PushToken {
  /** Identifies the token. */
  readonly digest: string
  /** Checks whether it may push archives of a host. */
  readonly allows: (host: string) => boolean
}

/** Parses lines `TOKEN [HOST...]` and # comments; `*.example.com` is every host of that domain. Throws EINVAL with the line number. */
export function parseTokens(text: string, path: string): ReadonlyMap<string, PushToken> {
  const tokens = new Map<string, PushToken>()
  for (const [i, line] of text.split('\n').entries()) {
    const [token = '', ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (token === '') continue
    if (token.length < MIN_TOKEN || !/^[\w.~+/-]+=*$/.test(token))
      throw new PcpError(
        'EINVAL',
        `${path} line ${i + 1}: a token has at least ${MIN_TOKEN} characters of A-Z a-z 0-9 . _ ~ + / -`,
      )
    const digest = digestOf(token)
    tokens.set(digest, {
      digest,
      allows: (host) => hosts.length === 0 || hosts.some((each) => fits(host, each)),
    })
  }
  return tokens
}

function fits(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

/** A digest is compared, and not the token, so that times do not reveal it. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The tokens of a file, read again when it changes. */
export class TokenFile {
  readonly #path: string
  readonly #report: (problem: string) => void
  #tokens: ReadonlyMap<string, PushToken> = new Map()
  #seen = ''

  constructor(path: string, report: (problem: string) => void) {
    this.#path = path
    this.#report = report
  }

  /** Returns a token by its text. An unusable file has none, which is logged. */
  find(text: string): PushToken | undefined {
    this.#refresh()
    return this.#tokens.get(digestOf(text))
  }

  #refresh(): void {
    const stat = statSync(this.#path, { throwIfNoEntry: false })
    const seen = stat === undefined ? 'missing' : `${stat.ino} ${stat.mtimeMs} ${stat.size} ${stat.mode}`
    if (seen === this.#seen) return
    this.#seen = seen
    this.#tokens = new Map()
    try {
      if (stat === undefined) throw new PcpError('ENOENT', `${this.#path} does not exist`)
      if ((stat.mode & READ_BY_OTHERS) !== 0)
        throw new PcpError('EACCES', `${this.#path} is accessible to all users: use chmod 640`)
      if (stat.size > MAX_FILE) throw new PcpError('E2BIG', `${this.#path} has more than ${MAX_FILE} bytes`)
      this.#tokens = parseTokens(readFileSync(this.#path, 'utf8'), this.#path)
    } catch (error) {
      this.#report(`No token is accepted for pushed archives: ${PcpError.from(error).message}`)
    }
  }
}
