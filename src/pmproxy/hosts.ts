/** Connections to collectors, shared by all requests of one user to the same collector. docs/reference/pmproxy.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { overrideSource } from '../model/layer.ts'
import type { MetricSource } from '../model/source.ts'
import { originOf } from '../net/client-origin.ts'
import { collectorPorts } from '../net/dial.ts'
import { HostSource } from '../net/host-source.ts'
import { type HostSpec, hostAttr, isUnnamedLocal, parseHostSpec } from '../net/host-spec.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { requestedSecurity } from '../net/secure-dial.ts'
import type { Variables } from '../sys/config.ts'
import { runDirs } from '../sys/instances.ts'
import { replyLimits, SERVER_REPLY_LIMITS } from '../wire/reply-limits.ts'
import { cachedSource } from './cached-source.ts'
import type { HostRules } from './host-rules.ts'
import { UNKNOWN, userKey, type WebUser } from './web-user.ts'

/** Maximum number of connections, and how many of them are reserved for clients with a login or the key. */
const MOST_HOSTS = 256
const RESERVED = 32
/** Maximum number of one client's connections, in addition to those to configured hosts; and if any host is allowed. */
const MOST_VARIANTS = 32
const MOST_OF_ANY = 128
/** Attributes that web clients may use. Others would have no effect but multiply connections. */
const ATTRIBUTES: readonly string[] = ['secure', 'username', 'password', 'method', 'container']
/** How long an unused connection is kept, ms. */
const IDLE_MS = 10_000

/** SASL statuses count downwards from this. */
const NYI = statusOf('PM_ERR_NYI')
const SASL_STATUSES = 100

/** Why a client is refused: too many connections of its own, or of all anonymous clients. */
export type LimitReached = 'own' | 'all'

/** Options of a lease. */
export interface LeaseOptions {
  readonly signal?: AbortSignal | undefined
  /** Closes unneeded connections before there are too many. */
  readonly makeRoom?: (shortage: LimitReached) => Promise<void>
}

interface Entry {
  /** Client for which it was opened. */
  readonly client: string
  readonly isNamed: boolean
  readonly opened: Promise<{ source: HostSource; cached: MetricSource }>
  leases: number
  idle: NodeJS.Timeout | undefined
}

/** Opens and shares connections. */
export class HostConnections {
  readonly #env: Variables
  readonly #rules: HostRules
  readonly #entries = new Map<string, Entry>()
  readonly #attempts: LoginAttempts
  /** Run directory of the collector that was found: this server stays with it. */
  #runDir: string | undefined
  /** Aborts connection attempts. */
  readonly #closing = new AbortController()

  constructor(env: Variables, rules: HostRules, attempts: LoginAttempts = new LoginAttempts()) {
    this.#attempts = attempts
    this.#env = env
    this.#rules = rules
  }

  /** Collector of requests that name none: PCP's is TCP on this host, unless one is looked for. */
  get defaultHost(): string {
    return runDirs(this.#env).length > 0 ? 'local:' : 'localhost'
  }

  /** Number of connections that are open or being opened. */
  get count(): number {
    return this.#entries.size
  }

  /**
   * Returns a source on a shared connection; `close` releases it. The collector sees `user`, never the user of this process. Errors of
   * `parseHostSpec` and `dial`; PM_ERR_PERMISSION for a host that is not allowed, PM_ERR_CONNLIMIT for too many connections, ECANCELED by the
   * signal (other callers may continue to wait for the connection).
   */
  async lease(
    text: string,
    user: WebUser = UNKNOWN,
    { signal, makeRoom }: LeaseOptions = {},
  ): Promise<MetricSource> {
    if (this.#closing.signal.aborted) throw new PcpError('PM_ERR_NOTCONN', 'The server is shutting down')
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
      return overrideSource(cached, { close: release })
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

  /** Closes all connections; idempotent. */
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

  #wayTo(text: string, user: WebUser): HostRoute {
    const spec = parseHostSpec(text, this.#env)
    this.#rules.check(spec)
    // Node would connect to the local machine.
    const isPath = spec.scheme === undefined && /^[./]/.test(text)
    if (isPath || spec.hosts.some(({ name }) => name === '')) throw new PcpError('PM_ERR_NOTHOST')
    const other = spec.attrs.find(({ name }) => !ATTRIBUTES.includes(name))
    if (other !== undefined)
      throw new PcpError(
        'EINVAL',
        `"${other.name}" is not supported; host attributes are ${ATTRIBUTES.join(', ')}`,
      )
    return routeFor(user, spec, this.#rules.isOwnSocket(spec))
  }

  /** Returns the same key for all spellings of a connection. EINVAL for a user without password or the reverse. */
  #keyOf({ spec, asGuest, overTcp = false }: HostRoute, user: WebUser): string {
    const { scheme } = spec
    const isPath = scheme === 'unix' || scheme === 'local'
    const hosts = spec.hosts.map(({ name, ports }, i) => [
      isPath ? name : name.toLowerCase(),
      isPath ? [] : [...new Set(ports.length > 0 || i > 0 ? ports : collectorPorts(this.#env))],
    ])
    const security = requestedSecurity(spec, this.#env)
    const container = hostAttr(spec, 'container') || undefined
    return JSON.stringify([
      isPath ? scheme : 'pcp',
      hosts,
      security,
      container,
      asGuest,
      overTcp,
      userKey(user),
    ])
  }

  /** Closes idle connections, and returns which limit one more connection would exceed. */
  #shortage({ client, isNamed }: HostRoute): LimitReached | undefined {
    const { isAny, count } = this.#rules
    const mostOfOne = isAny ? MOST_OF_ANY : MOST_VARIANTS + count
    const isOwn = (entry: Entry): boolean => entry.client === client
    if (!this.#isBelow(mostOfOne, isOwn)) return 'own'
    const mostAnonymous = MOST_HOSTS - RESERVED
    if (!isNamed && !this.#isBelow(mostAnonymous, (entry) => !entry.isNamed)) return 'all'
    return this.#isBelow(MOST_HOSTS, () => true) ? undefined : 'all'
  }

  /** Checks whether there are fewer than `most` such connections, closing an idle one if necessary. */
  #isBelow(most: number, isMeant: (entry: Entry) => boolean): boolean {
    const meant = [...this.#entries].filter(([, entry]) => isMeant(entry))
    if (meant.length < most) return true
    const idle = meant.find(([, entry]) => entry.leases === 0 && entry.idle !== undefined)
    if (idle === undefined) return false
    this.#end(...idle)
    return meant.length - 1 < most
  }

  /** Opens a connection with a login, if this client may try one now. EAGAIN after too many failures. */
  async #logIn(
    key: string,
    way: HostRoute,
    address: string | undefined,
    name: string,
    signal: AbortSignal | undefined,
  ): Promise<Entry> {
    const giveVerdict = await this.#attempts.begin({ address }, name, signal)
    const known = this.#entries.get(key)
    const entry = known ?? this.#open(key, way)
    clearTimeout(entry.idle)
    entry.idle = undefined // now in use
    entry.opened.then(
      () => giveVerdict('right'),
      (error: unknown) => giveVerdict(isWrongLogin(PcpError.from(error)) ? 'wrong' : 'unknown'),
    )
    return entry
  }

  #open(key: string, way: HostRoute): Entry {
    const { spec, asGuest, isDirect, client, isNamed, overTcp = false } = way
    if (this.#shortage(way) !== undefined) throw new PcpError('PM_ERR_CONNLIMIT')
    const env = isDirect ? { ...this.#env, PMPROXY_HOST: undefined } : this.#env
    const opened = HostSource.connect(spec, {
      env,
      signal: this.#closing.signal,
      dropsIdentity: asGuest,
      overTcp,
      runDir: this.#runDir,
      replyLimits: replyLimits(env, SERVER_REPLY_LIMITS),
    }).then((source) => {
      this.#runDir ??= source.runDir
      const entry = this.#entries.get(key)
      source.subscribe(({ type }) => {
        // Current users get an error with their next request; others get a new connection.
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

  /** Closes an unused connection. */
  #end(key: string, entry: Entry): void {
    if (entry.leases > 0) return
    clearTimeout(entry.idle)
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    void entry.opened.then(({ source }) => source.close()).catch(() => undefined)
  }
}

/** Checks whether the login was rejected, rather than the connection. SASL statuses lie beyond those of PCP. */
function isWrongLogin({ code, status }: PcpError): boolean {
  return (status < NYI && status >= NYI - SASL_STATUSES) || code === 'PM_ERR_PERMISSION'
}

/** How to reach a collector for a user. */
interface HostRoute {
  readonly spec: HostSpec
  /** Gives up our own identity on its unix socket. */
  readonly asGuest: boolean
  /** Not by a unix socket. */
  readonly overTcp?: boolean
  /** Without a proxy. */
  readonly isDirect: boolean
  /** Client to count the connection for, and whether it has a login or the key. */
  readonly client: string
  readonly isNamed: boolean
}

/**
 * Returns how to reach a host without lending this process's identity. A unix socket identifies this process to the collector, so only
 * requests of the same user use it; all others use TCP, with their login or none. PM_ERR_PERMISSION for a socket without a TCP port.
 */
function routeFor(user: WebUser, given: HostSpec, isOwn: boolean): HostRoute {
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
  if (isUnnamedLocal(given)) return { ...about, spec, asGuest: false, isDirect: true, overTcp: true }
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
      reject(new PcpError('ECANCELED', 'Connecting was cancelled', { cause: signal.reason }))
    const unwatch = onAbort(signal, giveUp)
    opened.finally(unwatch).then(resolve, reject)
    if (signal.aborted) giveUp()
  })
}
