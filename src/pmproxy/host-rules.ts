/** Which collectors web clients may name: the local one, and those of the configuration. docs/reference/pmproxy.md, docs/explanation/security.md */
import { PcpError } from '../model/errors.ts'
import { collectorPorts } from '../net/dial.ts'
import { defaultSocketPath, type HostSpec, parseHostSpec } from '../net/host-spec.ts'
import type { Variables } from '../sys/config.ts'
import { isLocalName } from './http/machine-names.ts'

/** Means all hosts in a list. */
export const ANY_HOST = '*'

/** Configured hosts. */
interface HostLists {
  readonly hosts: readonly string[] | undefined
  readonly offeredHosts: readonly string[]
}

/** A listed host. */
interface Listed {
  readonly text: string
  readonly spec: HostSpec
}

/** The allowed hosts. All others get the same error, without any connection or name lookup. */
export class HostRules {
  readonly #env: Variables
  readonly #listed: readonly Listed[]
  /** Are all hosts allowed that are reached over TCP? */
  readonly isAny: boolean
  /** May clients reach the local collector? */
  readonly isOwnListed: boolean

  /** Without a list of hosts, the local collector and the offered hosts are allowed. */
  constructor(env: Variables, { hosts, offeredHosts }: HostLists) {
    const texts = hosts ?? offeredHosts
    this.#env = env
    this.isAny = texts.includes(ANY_HOST)
    this.#listed = texts
      .filter((text) => text !== ANY_HOST)
      .map((text) => ({ text, spec: parseHostSpec(text, env) }))
    this.isOwnListed = hosts === undefined || this.isAny || this.#listed.some(({ spec }) => this.#isOwn(spec))
  }

  /** Number of listed hosts. */
  get count(): number {
    return this.#listed.length
  }

  /** Throws PM_ERR_PERMISSION for a host that is not allowed; with `isListed`, "any host" does not suffice. */
  check(spec: HostSpec, isListed = false): void {
    if (!this.#allows(spec, isListed))
      throw new PcpError(
        'PM_ERR_PERMISSION',
        'This server may not connect to that host; add it to hosts in [ui] of pmproxy.conf',
      )
  }

  /** Checks whether connections may be forwarded to a port of a host. */
  allowsForwarding(name: string, port: number): boolean {
    return this.#allows(
      { text: `${name}:${port}`, scheme: undefined, hosts: [{ name, ports: [port] }], attrs: [] },
      false,
    )
  }

  /** Checks whether this is the unix socket of the local collector. */
  isOwnSocket(spec: HostSpec): boolean {
    return isSocket(spec) && spec.hosts[0]!.name === defaultSocketPath(this.#env)
  }

  #allows(spec: HostSpec, isListed: boolean): boolean {
    if (this.#isOwn(spec)) return this.isOwnListed
    if (this.#listed.some((listed) => listed.text === spec.text || this.#covers(listed.spec, spec)))
      return true
    return this.isAny && !isListed && !isSocket(spec)
  }

  /** Checks whether this is the local collector that we were started for, by its socket or port. */
  #isOwn(spec: HostSpec): boolean {
    if (isSocket(spec)) return this.isOwnSocket(spec)
    const [host, ...proxies] = spec.hosts
    return (
      host !== undefined && proxies.length === 0 && isLocalName(host.name) && this.#isAmong(host.ports, [])
    )
  }

  /** Checks whether both are the same host with a listed port. Attributes in the list are required, so clients must repeat them. */
  #covers(listed: HostSpec, spec: HostSpec): boolean {
    if (isSocket(spec)) return false
    const {
      scheme,
      hosts: [host, ...proxies],
    } = spec
    const [known, ...others] = listed.hosts
    if (known === undefined || host === undefined) return false
    if (listed.attrs.length + proxies.length + others.length > 0 || isSocket(listed)) return false
    const isSameScheme = listed.scheme === undefined || listed.scheme === scheme
    const isSameName = known.name.toLowerCase() === host.name.toLowerCase()
    return isSameScheme && isSameName && this.#isAmong(host.ports, known.ports)
  }

  #isAmong(ports: readonly number[], listed: readonly number[]): boolean {
    const defaults = collectorPorts(this.#env)
    const allowed = listed.length > 0 ? listed : defaults
    return (ports.length > 0 ? ports : defaults).every((port) => allowed.includes(port))
  }
}

function isSocket({ scheme }: HostSpec): boolean {
  return scheme === 'unix' || scheme === 'local'
}
