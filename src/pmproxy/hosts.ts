/** Connections to collectors, shared by all who ask the same one as the same user. docs/pmproxy.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { MetricSource } from '../model/source.ts'
import { HostSource } from '../net/host-source.ts'
import { defaultSocketPath, type HostSpec, parseHostSpec } from '../net/host-spec.ts'
import type { Variables } from '../sys/config.ts'
import { cachedSource } from './cached-source.ts'

/** Who asks a collector, where somebody logged in. */
export interface Login {
  readonly user: string
  readonly password: string
}

/** Which collectors may be asked. */
export interface HostRules {
  /** Host specifications; undefined: any. */
  readonly allowed?: readonly string[]
}

/** Connections at once. */
const MOST_HOSTS = 256
/** How long a connection stays that nobody uses, ms. */
const IDLE_MS = 10_000

interface Entry {
  readonly opened: Promise<{ source: HostSource; cached: MetricSource }>
  leases: number
  idle: NodeJS.Timeout | undefined
}

/** Opens and keeps connections. */
export class Hosts {
  readonly #env: Variables
  readonly #rules: HostRules
  readonly #entries = new Map<string, Entry>()
  /** Ends attempts to connect. */
  readonly #closing = new AbortController()

  constructor(env: Variables, rules: HostRules = {}) {
    this.#env = env
    this.#rules = rules
  }

  /** Connections that are open or being opened. */
  get count(): number {
    return this.#entries.size
  }

  /**
   * A source at the other end of a connection, which `close` gives back. Errors of `parseHostSpec` and `dial`; PM_ERR_PERMISSION for a host
   * that is not on the list, PM_ERR_CONNLIMIT for too many, ECANCELED by the signal; others may go on waiting for the connection.
   */
  async lease(text: string, login?: Login, signal?: AbortSignal): Promise<MetricSource> {
    if (this.#closing.signal.aborted) throw new PcpError('PM_ERR_NOTCONN', 'The server is going away')
    const spec = this.#specOf(text, login)
    const key = JSON.stringify([spec.text, spec.attrs])
    const entry = this.#entries.get(key) ?? this.#open(key, spec)
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
      return { ...cached, close: release }
    } catch (error) {
      await release()
      if (signal?.aborted !== true && this.#entries.get(key) === entry) this.#entries.delete(key)
      throw error
    }
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

  #specOf(text: string, login: Login | undefined): HostSpec {
    const spec = parseHostSpec(text, this.#env)
    const { allowed } = this.#rules
    if (allowed !== undefined && !allowed.includes(text))
      throw new PcpError('PM_ERR_PERMISSION', `Host "${text}" is not one of those this server may ask`)
    if (spec.scheme === undefined && /^[./]/.test(text)) throw new PcpError('PM_ERR_NOTHOST')
    // Whether there is a file, and who answers on a socket of this machine, is not for the web.
    const isPath = spec.scheme === 'unix' || spec.scheme === 'local'
    if (allowed === undefined && isPath && spec.hosts[0]!.name !== defaultSocketPath(this.#env))
      throw new PcpError('PM_ERR_PERMISSION', `Only the collector's own socket may be asked, not "${text}"`)
    if (login === undefined) return spec
    const attrs = spec.attrs.filter(({ name }) => name !== 'username' && name !== 'password')
    attrs.push({ name: 'username', value: login.user }, { name: 'password', value: login.password })
    return { ...spec, attrs }
  }

  #open(key: string, spec: HostSpec): Entry {
    if (this.#entries.size >= MOST_HOSTS) throw new PcpError('PM_ERR_CONNLIMIT')
    const opened = HostSource.connect(spec, { env: this.#env, signal: this.#closing.signal }).then(
      (source) => {
        const entry = this.#entries.get(key)
        source.subscribe(({ type }) => {
          // Whoever holds it hears so from its next question; others get a new one.
          if (type === 'lost' && this.#entries.get(key) === entry) this.#entries.delete(key)
        })
        return { source, cached: cachedSource(source) }
      },
    )
    const entry: Entry = { opened, leases: 0, idle: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  #release(key: string, entry: Entry): void {
    if (--entry.leases > 0) return
    clearTimeout(entry.idle)
    const end = (): void => {
      if (entry.leases > 0) return
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
      void entry.opened.then(({ source }) => source.close()).catch(() => undefined)
    }
    entry.idle = setTimeout(end, this.#closing.signal.aborted ? 0 : IDLE_MS)
    entry.idle.unref()
  }
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
