/** Identifies who pushes archives. Anonymous clients may not, unless their address is listed. docs/reference/pmproxy.md */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { PcpError } from '../../model/errors.ts'
import type { PushReceiver } from '../../push/receiver.ts'
import { isDeliberate } from '../http/origin.ts'
import type { WebRequest } from '../http/request.ts'
import type { WebUser } from '../web-user.ts'
import type { PushConfig } from './config.ts'
import { TokenFile } from './tokens.ts'

/** The receiver, and who may send to it. */
export interface PushService {
  readonly receiver: PushReceiver
  readonly senders: Senders
}

/** Who pushes. */
export interface Sender {
  /** Identifies the sender: only it may continue its archives. */
  readonly owner: string
  readonly allows: (host: string) => boolean
}

/** How long a checked password is not checked again. */
const CHECKED_MS = 60_000
const MAX_CHECKED = 1000
const BEARER = /^Bearer +(\S{1,512})$/i
const anyHost = (): boolean => true

/** Checks credentials of senders. */
export class Senders {
  readonly #config: PushConfig
  readonly #tokens: TokenFile | undefined
  readonly #nowMs: () => number
  /** Digests of checked logins, and until when they count. */
  readonly #checked = new Map<string, number>()

  constructor(config: PushConfig, report: (problem: string) => void, nowMs: () => number = Date.now) {
    this.#config = config
    this.#tokens = config.tokenFile === undefined ? undefined : new TokenFile(config.tokenFile, report)
    this.#nowMs = nowMs
  }

  /**
   * Returns the sender of a request; undefined if it must identify. `open` logs in at the collector. Throws PM_ERR_PERMISSION for pages, and errors
   * of a login.
   */
  async identify(
    request: WebRequest,
    user: WebUser | null,
    open: (user: WebUser) => Promise<{ close(): unknown }>,
  ): Promise<Sender | undefined> {
    if (request.origin !== undefined || !isDeliberate(request))
      throw new PcpError('PM_ERR_PERMISSION', 'pages may not push archives')
    const { authorization = '' } = request.headers
    const [, text] = BEARER.exec(authorization) ?? []
    const token = text === undefined ? undefined : this.#tokens?.find(text)
    if (token !== undefined) return { owner: `token ${token.digest}`, allows: token.allows }
    if (user?.kind === 'owner') return { owner: 'owner', allows: anyHost }
    if (user?.kind === 'login') {
      await this.#checkLogin(authorization, () => open(user))
      return { owner: `user ${user.user}`, allows: anyHost }
    }
    return user?.kind === 'unknown' && authorization === '' && this.#isListed(request.address)
      ? { owner: 'address', allows: anyHost }
      : undefined
  }

  #isListed(address: string | undefined): boolean {
    if (address === undefined) return this.#config.allowsUnixSocket
    const family = isIP(address)
    return family !== 0 && this.#config.addresses.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }

  /** Logs in at the collector, which alone knows passwords. */
  async #checkLogin(header: string, open: () => Promise<{ close(): unknown }>): Promise<void> {
    const digest = createHash('sha256').update(header).digest('hex')
    const now = this.#nowMs()
    if ((this.#checked.get(digest) ?? 0) > now) return
    await (await open()).close()
    this.#checked.delete(digest)
    this.#checked.set(digest, now + CHECKED_MS)
    if (this.#checked.size > MAX_CHECKED) this.#checked.delete(this.#checked.keys().next().value!)
  }
}
