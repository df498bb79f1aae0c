/** Which collectors web clients may have asked for them: our own, and those of the configuration. docs/pmproxy.md, docs/security.md */
import { PcpError } from '../model/errors.ts'
import { collectorPorts } from '../net/dial.ts'
import { defaultSocketPath, type HostSpec, parseHostSpec } from '../net/host-spec.ts'
import type { Variables } from '../sys/config.ts'
import { isOwnName } from './http/own-names.ts'

/** Stands for all hosts in a list. */
export const ANY_HOST = '*'

/** Hosts as the configuration lists them. */
interface HostLists {
  readonly hosts: readonly string[] | undefined
  readonly offeredHosts: readonly string[]
}

/** A host that clients may name. */
interface Listed {
  readonly text: string
  readonly spec: HostSpec
}

/** The hosts that are allowed. Who asks for others gets one answer, whatever is there: nothing is connected to or looked up. */
export class HostRules {
  readonly #env: Variables
  readonly #listed: readonly Listed[]
  /** Are all hosts allowed that are reached over TCP? */
  readonly isAny: boolean
  readonly #isOwnListed: boolean

  /** Without a list of hosts our own collector and those that the page offers are allowed. */
  constructor(env: Variables, { hosts, offeredHosts }: HostLists) {
    const texts = hosts ?? offeredHosts
    this.#env = env
    this.isAny = texts.includes(ANY_HOST)
    this.#listed = texts
      .filter((text) => text !== ANY_HOST)
      .map((text) => ({ text, spec: parseHostSpec(text, env) }))
    this.#isOwnListed =
      hosts === undefined || this.isAny || this.#listed.some(({ spec }) => this.#isOwn(spec))
  }

  /** Hosts that are listed. */
  get count(): number {
    return this.#listed.length
  }

  /** Throws PM_ERR_PERMISSION for a host that is not allowed; `isListed`: it has to be listed by name where any is allowed. */
  check(spec: HostSpec, isListed = false): void {
    if (!this.#allows(spec, isListed))
      throw new PcpError(
        'PM_ERR_PERMISSION',
        'This host is not one of those that this server may ask: hosts in [ui] of pmproxy.conf lists them',
      )
  }

  /** Checks whether connections may be forwarded to a port of a host. */
  allowsForwarding(name: string, port: number): boolean {
    return this.#allows(
      { text: `${name}:${port}`, scheme: undefined, hosts: [{ name, ports: [port] }], attrs: [] },
      false,
    )
  }

  /** Is this the unix socket of our own collector? */
  isOwnSocket(spec: HostSpec): boolean {
    return isSocket(spec) && spec.hosts[0]!.name === defaultSocketPath(this.#env)
  }

  #allows(spec: HostSpec, isListed: boolean): boolean {
    if (this.#isOwn(spec)) return this.#isOwnListed
    if (this.#listed.some((listed) => listed.text === spec.text || this.#covers(listed.spec, spec)))
      return true
    return this.isAny && !isListed && !isSocket(spec)
  }

  /** The collector of this machine that we were started for: its socket, or its port. */
  #isOwn(spec: HostSpec): boolean {
    if (isSocket(spec)) return this.isOwnSocket(spec)
    const [host, ...proxies] = spec.hosts
    return host !== undefined && proxies.length === 0 && isOwnName(host.name) && this.#isAmong(host.ports, [])
  }

  /** Is this the same host, its ports among those listed? Attributes in a list are demands, so they have to be repeated as they are. */
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
