/** Connections to collectors, shared by all who ask the same one as the same user. docs/pmproxy.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { layer } from '../model/layer.ts'
import type { MetricSource } from '../model/source.ts'
import { originOf } from '../net/client-origin.ts'
import { collectorPorts } from '../net/dial.ts'
import { HostSource } from '../net/host-source.ts'
import { type HostSpec, hostAttr, parseHostSpec } from '../net/host-spec.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { securityOf } from '../net/secure-dial.ts'
import type { Variables } from '../sys/config.ts'
import { replyLimits, SERVER_REPLY_LIMITS } from '../wire/reply-limits.ts'
import { cachedSource } from './cached-source.ts'
import type { HostRules } from './host-rules.ts'
import { UNKNOWN, userKey, type WebUser } from './web-user.ts'

/** Connections at once, and those of them that are kept for clients with a login or the key. */
const MOST_HOSTS = 256
const RESERVED = 32
/** Connections at once of one client: besides those to each configured host, and where any host is allowed. */
const MOST_VARIANTS = 32
const MOST_OF_ANY = 128
/** Attributes that have a meaning for web clients. Others would do nothing but make connections differ. */
const ATTRIBUTES: readonly string[] = ['secure', 'username', 'password', 'method', 'container']
/** How long a connection stays that nobody uses, ms. */
const IDLE_MS = 10_000

/** Statuses of SASL are counted downwards from this. */
const NYI = statusOf('PM_ERR_NYI')
const SASL_STATUSES = 100

/** Which connections a client is refused for: those of its own, or those of all anonymous clients. */
export type Shortage = 'own' | 'all'

/** How a client waits for a connection. */
export interface LeaseOptions {
  readonly signal?: AbortSignal | undefined
  /** Gives up connections that no one needs, before there are too many. */
  readonly makeRoom?: (shortage: Shortage) => Promise<void>
}

interface Entry {
  /** Client that it was opened for. */
  readonly client: string
  readonly isNamed: boolean
  readonly opened: Promise<{ source: HostSource; cached: MetricSource }>
  leases: number
  idle: NodeJS.Timeout | undefined
}

/** Opens and keeps connections. */
export class Hosts {
  readonly #env: Variables
  readonly #rules: HostRules
  readonly #entries = new Map<string, Entry>()
  readonly #attempts: LoginAttempts
  /** Ends attempts to connect. */
  readonly #closing = new AbortController()

  constructor(env: Variables, rules: HostRules, attempts: LoginAttempts = new LoginAttempts()) {
    this.#attempts = attempts
    this.#env = env
    this.#rules = rules
  }

  /** Connections that are open or being opened. */
  get count(): number {
    return this.#entries.size
  }

  /**
   * A source at the other end of a connection, which `close` gives back; the collector sees `user` there, never the user this process runs as.
   * Errors of `parseHostSpec` and `dial`; PM_ERR_PERMISSION for a host that is not on the list, PM_ERR_CONNLIMIT for too many, ECANCELED by the signal; others may go on waiting for the connection.
   */
  async lease(
    text: string,
    user: WebUser = UNKNOWN,
    { signal, makeRoom }: LeaseOptions = {},
  ): Promise<MetricSource> {
    if (this.#closing.signal.aborted) throw new PcpError('PM_ERR_NOTCONN', 'The server is going away')
    const way = this.#wayTo(text, user)
    const key = this.#keyOf(way, user)
    const name = hostAttr(way.spec, 'username')
    if (!this.#entries.has(key)) {
      const shortage = this.#shortage(way)
      if (shortage !== undefined) await makeRoom?.(shortage)
    }
    const entry =
      this.#entries.get(key) ??
      (name === undefined ? this.#open(key, way) : await this.#logIn(key, way, user.from, name, signal))
    entry.leases++
    clearTimeout(entry.idle)
    let isHeld = true
    const release = async (): Promise<void> => {
      if (!isHeld) return
      isHeld = false
      this.#release(key, entry)
    }
    try {
      const { cached } = await unlessAborted(entry.opened, signal)
      return layer(cached, { close: release })
    } catch (error) {
      await release()
      if (signal?.aborted !== true && this.#entries.get(key) === entry) this.#entries.delete(key)
      throw error
    }
  }

  /** Throws PM_ERR_PERMISSION for a host that pages of other origins may not name. */
  checkListed(text: string): void {
    this.#rules.check(parseHostSpec(text, this.#env), true)
  }

  /** Ends all connections; idempotent. */
  async close(): Promise<void> {
    this.#closing.abort()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { idle } of entries) clearTimeout(idle)
    await Promise.all(
      entries.map(({ opened }) =>
        opened.then(
          ({ source }) => source.close(),
          () => undefined,
        ),
      ),
    )
  }

  #wayTo(text: string, user: WebUser): Way {
    const spec = parseHostSpec(text, this.#env)
    this.#rules.check(spec)
    // Node would connect to this machine.
    const isPath = spec.scheme === undefined && /^[./]/.test(text)
    if (isPath || spec.hosts.some(({ name }) => name === '')) throw new PcpError('PM_ERR_NOTHOST')
    const other = spec.attrs.find(({ name }) => !ATTRIBUTES.includes(name))
    if (other !== undefined)
      throw new PcpError(
        'EINVAL',
        `"${other.name}" has no meaning here: the attributes of a host are ${ATTRIBUTES.join(', ')}`,
      )
    return wayFor(user, spec, this.#rules.isOwnSocket(spec))
  }

  /** Returns one key for all spellings of a connection. EINVAL for half a login. */
  #keyOf({ spec, asGuest }: Way, user: WebUser): string {
    const { scheme } = spec
    const isPath = scheme === 'unix' || scheme === 'local'
    const hosts = spec.hosts.map(({ name, ports }, i) => [
      isPath ? name : name.toLowerCase(),
      isPath ? [] : [...new Set(ports.length > 0 || i > 0 ? ports : collectorPorts(this.#env))],
    ])
    const security = securityOf(spec, this.#env)
    const container = hostAttr(spec, 'container') || undefined
    return JSON.stringify([isPath ? scheme : 'pcp', hosts, security, container, asGuest, userKey(user)])
  }

  /** Returns what a client has too many of for one connection more, once idle ones are closed. */
  #shortage({ client, isNamed }: Way): Shortage | undefined {
    const { isAny, count } = this.#rules
    const mostOfOne = isAny ? MOST_OF_ANY : MOST_VARIANTS + count
    const isOwn = (entry: Entry): boolean => entry.client === client
    if (!this.#isBelow(mostOfOne, isOwn)) return 'own'
    const mostAnonymous = MOST_HOSTS - RESERVED
    if (!isNamed && !this.#isBelow(mostAnonymous, (entry) => !entry.isNamed)) return 'all'
    return this.#isBelow(MOST_HOSTS, () => true) ? undefined : 'all'
  }

  /** Checks whether there are fewer such connections than `most`, after closing an idle one if it takes that. */
  #isBelow(most: number, isMeant: (entry: Entry) => boolean): boolean {
    const meant = [...this.#entries].filter(([, entry]) => isMeant(entry))
    if (meant.length < most) return true
    const idle = meant.find(([, entry]) => entry.leases === 0 && entry.idle !== undefined)
    if (idle === undefined) return false
    this.#end(...idle)
    return meant.length - 1 < most
  }

  /** Opens a connection with a login, once this client may try one. EAGAIN after too many failures. */
  async #logIn(
    key: string,
    way: Way,
    address: string | undefined,
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<Entry> {
    const giveVerdict = await this.#attempts.begin({ address }, name, signal)
    const known = this.#entries.get(key)
    const entry = known ?? this.#open(key, way)
    clearTimeout(entry.idle)
    entry.idle = undefined // it is about to be used
    entry.opened.then(
      () => giveVerdict('right'),
      (error: unknown) => giveVerdict(isWrongLogin(PcpError.from(error)) ? 'wrong' : 'unknown'),
    )
    return entry
  }

  #open(key: string, way: Way): Entry {
    const { spec, asGuest, isDirect, client, isNamed } = way
    if (this.#shortage(way) !== undefined) throw new PcpError('PM_ERR_CONNLIMIT')
    const env = isDirect ? { ...this.#env, PMPROXY_HOST: undefined } : this.#env
    const opened = HostSource.connect(spec, {
      env,
      signal: this.#closing.signal,
      asGuest,
      replyLimits: replyLimits(env, SERVER_REPLY_LIMITS),
    }).then((source) => {
      const entry = this.#entries.get(key)
      source.subscribe(({ type }) => {
        // Whoever holds it hears so from its next question; others get a new one.
        if (type === 'lost' && this.#entries.get(key) === entry) this.#entries.delete(key)
      })
      return { source, cached: cachedSource(source) }
    })
    const entry: Entry = { client, isNamed, opened, leases: 0, idle: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  #release(key: string, entry: Entry): void {
    if (--entry.leases > 0) return
    clearTimeout(entry.idle)
    const end = (): void => this.#end(key, entry)
    entry.idle = setTimeout(end, this.#closing.signal.aborted ? 0 : IDLE_MS)
    entry.idle.unref()
  }

  /** Closes a connection that no one uses. */
  #end(key: string, entry: Entry): void {
    if (entry.leases > 0) return
    clearTimeout(entry.idle)
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    void entry.opened.then(({ source }) => source.close()).catch(() => undefined)
  }
}

/** Was the login refused, rather than the connection? Statuses of SASL are beyond those of PCP. */
function isWrongLogin({ code, status }: PcpError): boolean {
  return (status < NYI && status >= NYI - SASL_STATUSES) || code === 'PM_ERR_PERMISSION'
}

/** How a collector is reached for a user. */
interface Way {
  readonly spec: HostSpec
  /** Gives up our own identity on its unix socket. */
  readonly asGuest: boolean
  /** Through no proxy. */
  readonly isDirect: boolean
  /** Client that connections are counted for, and whether it has a login or the key. */
  readonly client: string
  readonly isNamed: boolean
}

/**
 * Keeps our own identity away from other users' requests. On a unix socket the kernel identifies us to the collector, so only our own user's
 * requests go there; all others use TCP, with their login or none. PM_ERR_PERMISSION for a socket without a TCP port (`isOwn` is false).
 */
function wayFor(user: WebUser, given: HostSpec, isOwn: boolean): Way {
  const isPath = given.scheme === 'unix' || given.scheme === 'local'
  const spec = user.kind === 'login' ? withLogin(given, user.user, user.password) : given
  const name = hostAttr(spec, 'username')
  const isNamed = name !== undefined
  const client = name === undefined ? `${user.kind} ${originOf({ address: user.from })}` : `login ${name}`
  const about = { client, isNamed: isNamed || user.kind === 'owner' }
  if (!isPath || (user.kind === 'owner' && !isNamed))
    return { ...about, spec, asGuest: false, isDirect: false }
  if (!isOwn)
    throw new PcpError(
      'PM_ERR_PERMISSION',
      `"${given.text}" needs the identity of this server's user: name a host and a port instead`,
    )
  if (user.kind === 'guest' && !isNamed)
    return { ...about, spec: { ...spec, scheme: 'local' }, asGuest: true, isDirect: true }
  const hosts = [{ name: 'localhost', ports: [] }]
  return { ...about, spec: { ...spec, scheme: 'pcp', hosts }, asGuest: false, isDirect: true }
}

function withLogin(spec: HostSpec, user: string, password: string): HostSpec {
  const attrs = spec.attrs.filter(({ name }) => name !== 'username' && name !== 'password')
  attrs.push({ name: 'username', value: user }, { name: 'password', value: password })
  return { ...spec, attrs }
}

/** Stops waiting when the signal is aborted; the connection attempt continues. */
function unlessAborted<T>(opened: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return opened
  return new Promise((resolve, reject) => {
    const giveUp = (): void =>
      reject(new PcpError('ECANCELED', 'Connecting was given up', { cause: signal.reason }))
    const unwatch = onAbort(signal, giveUp)
    opened.finally(unwatch).then(resolve, reject)
    if (signal.aborted) giveUp()
  })
}
