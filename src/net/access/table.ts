/**
 * Access control: which operations a peer is denied, and how many may connect. pmcd(1)
 *
 * Host rules are kept from most general to most specific; each matching rule overwrites the operations it names, and
 * the last matching rule supplies the connection limit. Without a matching rule everything is allowed.
 */
import type { Credentials } from '../../model/source.ts'
import type { Accounts } from '../../sys/native/accounts.ts'
import { type AccessStatement, OP_ALL } from './statements.ts'

/** Origin of a client's connection. */
export interface AccessPeer {
  /** Undefined for a unix socket. */
  readonly address: string | undefined
  readonly credentials?: Credentials
  /** The client will still authenticate: user and group rules do not apply until then. */
  readonly isPending?: boolean
}

/** Resolves the names in access rules. */
export interface NameService {
  /** Addresses of a host name; empty for an unknown host. */
  readonly addressesOf: (host: string) => Promise<readonly string[]>
  /** Addresses of this host's interfaces, loopback included. */
  readonly ownAddresses: () => readonly string[]
  /** Users and groups; called only when a rule names one. */
  readonly accounts: () => Omit<Accounts, 'firstGroupOf'>
}

/** One pattern of one name of a statement. */
export interface AccessRule {
  readonly subject: 'host' | 'user' | 'group'
  /** As written. */
  readonly spec: string
  /** Address bytes that must match; undefined for unix clients, users and groups. */
  readonly prefix?: readonly number[]
  /** Length of the addresses that `prefix` matches. */
  readonly width?: 4 | 16
  /** Also matches clients that connect through any address of this host. */
  readonly isLocalHost?: boolean
  /** Id of the user or group; undefined for all of them. */
  readonly id?: number | undefined
  /** Members of the group besides the users whose primary group it is. */
  readonly members?: readonly number[]
  /** Generality; 0 is a single address. */
  readonly generality: number
  readonly specified: number
  readonly denied: number
  readonly maxConnections: number | undefined
}

/** Result of matching a peer against the rules. */
export interface Admission {
  /** OP_* bits the peer may not do. */
  readonly denied: number
  /** All matching rules: each counts this connection. */
  readonly matching: readonly AccessRule[]
  /** The rules whose limits apply: the most specific of each kind. */
  readonly limiting: readonly AccessRule[]
}

/** The access rules in force and their connection counts. */
export class AccessTable {
  readonly #rules: readonly AccessRule[]
  readonly #own: readonly (readonly number[])[]
  readonly #subjects: ReadonlySet<AccessRule['subject']>
  readonly #all: number
  readonly #current = new Map<AccessRule, number>()

  /**
   * `judges` are the subjects of the configured statements. A subject can have no rules when all its names are unknown;
   * it then denies access. `all` are the bits of all operations.
   */
  constructor(
    rules: readonly AccessRule[] = [],
    ownAddresses: readonly string[] = [],
    judges: readonly AccessRule['subject'][] = [],
    all: number = OP_ALL,
  ) {
    this.#all = all
    this.#rules = [...rules].sort((a, b) => b.generality - a.generality)
    this.#subjects = new Set(judges)
    this.#own = ownAddresses.map(parseAddress).filter((bytes) => bytes !== undefined)
  }

  /** Returns the rules of one kind, most general first, with the current connections of each. */
  rules(subject: AccessRule['subject']): readonly { readonly rule: AccessRule; readonly current: number }[] {
    return this.#rules
      .filter((rule) => rule.subject === subject)
      .map((rule) => ({ rule, current: this.#current.get(rule) ?? 0 }))
  }

  /** True when user or group rules exist; a client without credentials is then refused. */
  get needsCredentials(): boolean {
    return this.hasRulesFor('user') || this.hasRulesFor('group')
  }

  /** Returns whether the configuration has rules of this kind, even if all names in them are unknown. */
  hasRulesFor(subject: AccessRule['subject']): boolean {
    return this.#subjects.has(subject)
  }

  /** Returns the operations denied to a peer, without counting a connection. */
  check(peer: AccessPeer): Admission {
    const parts = [decide(this.#rules.filter((rule) => rule.subject === 'host' && this.#matches(rule, peer)))]
    for (const subject of ['user', 'group'] as const) {
      if (!this.hasRulesFor(subject) || peer.isPending === true) continue
      const rules = this.#rules.filter((rule) => rule.subject === subject)
      const { uid, gid } = peer.credentials ?? {}
      const id = subject === 'user' ? uid : gid
      const isMember = ({ members }: AccessRule): boolean =>
        uid !== undefined && members?.includes(uid) === true
      // A peer without credentials matches no rule, not even one for `*`: another rule might deny its user.
      const matching =
        id === undefined
          ? []
          : rules.filter((rule) => rule.id === undefined || rule.id === id || isMember(rule))
      parts.push(matching.length === 0 ? { denied: this.#all, matching: [], limiting: [] } : decide(matching))
    }
    return {
      denied: parts.reduce((bits, { denied }) => bits | denied, 0),
      matching: parts.flatMap(({ matching }) => matching),
      limiting: parts.flatMap(({ limiting }) => limiting),
    }
  }

  /** Counts a connection. Returns false, counting nothing, when a limit is reached. */
  admit({ matching, limiting }: Admission): boolean {
    const isFull = limiting.some(
      (rule) => (this.#current.get(rule) ?? 0) >= (rule.maxConnections ?? Number.POSITIVE_INFINITY),
    )
    if (isFull) return false
    for (const rule of matching) this.#current.set(rule, (this.#current.get(rule) ?? 0) + 1)
    return true
  }

  /** Undoes `admit`. */
  release(admission: Admission): void {
    for (const rule of admission.matching) this.#current.set(rule, (this.#current.get(rule) ?? 1) - 1)
  }

  #matches(rule: AccessRule, peer: AccessPeer): boolean {
    if (peer.address === undefined) return rule.width === undefined
    const bytes = parseAddress(peer.address)
    if (bytes === undefined) return false
    const isOwn = isLoopback(bytes) || this.#own.some((own) => startsWith(own, bytes))
    if (isOwn && rule.isLocalHost === true) return true
    const candidates = isOwn ? [bytes, ...this.#own] : [bytes]
    return candidates.some((address) => address.length === rule.width && startsWith(address, rule.prefix!))
  }
}

/** Combines the matching rules of one kind, most general first. */
function decide(matching: readonly AccessRule[]): Admission {
  const denied = matching.reduce((bits, rule) => (bits & ~rule.specified) | rule.denied, 0)
  return { denied, matching: matching, limiting: matching.slice(-1) }
}

/** Result of `buildAccess`. */
export interface BuiltAccess {
  readonly table: AccessTable
  /** For the log: names left out and contradicting rules. */
  readonly problems: readonly string[]
  /** Hosts that could not be resolved; each also has an entry in `problems`. */
  readonly unknownHosts: readonly { readonly name: string; readonly line: number }[]
  readonly isValid: boolean
}

/** Resolves the names in statements to rules; `all` are the bits of all operations. */
export async function buildAccess(
  statements: readonly AccessStatement[],
  names: NameService,
  all: number = OP_ALL,
): Promise<BuiltAccess> {
  const rules: AccessRule[] = []
  const problems: string[] = []
  const unknownHosts: { name: string; line: number }[] = []
  let isValid = true
  for (const statement of statements) {
    for (const spec of statement.names) {
      const found = await rulesFor(statement, spec, names)
      if (typeof found === 'string') {
        problems.push(`[line ${statement.line}]: Warning: ${found}`)
        if (found === unknownHost(spec)) unknownHosts.push({ name: spec, line: statement.line })
        continue
      }
      for (const rule of found) {
        const earlier = rules.find((other) => isSamePattern(other, rule))
        if (earlier === undefined) rules.push(rule)
        else if (clash(earlier, rule)) {
          problems.push(
            `[line ${statement.line}]: Error: Permission clash for ${spec} with earlier statement for ${earlier.spec}`,
          )
          isValid = false
        } else rules[rules.indexOf(earlier)] = merge(earlier, rule)
      }
    }
  }
  if (statements.length > 0 && rules.length === 0) isValid = false
  // Statements whose names are all unknown must keep restricting access instead of opening it to everyone.
  const judges = statements.map(({ subject }) => subject)
  return { table: new AccessTable(rules, names.ownAddresses(), judges, all), problems, isValid, unknownHosts }
}

type Pattern = Pick<AccessRule, 'prefix' | 'width' | 'isLocalHost' | 'id' | 'members' | 'generality'>

async function rulesFor(
  statement: AccessStatement,
  spec: string,
  names: NameService,
): Promise<readonly AccessRule[] | string> {
  const { subject, specified, denied, maxConnections } = statement
  const patterns = subject === 'host' ? await hostPatterns(spec, names) : accountPattern(subject, spec, names)
  if (typeof patterns === 'string') return patterns
  return patterns.map((pattern) => ({ ...pattern, subject, spec, specified, denied, maxConnections }))
}

function accountPattern(kind: 'user' | 'group', spec: string, names: NameService): Pattern[] | string {
  if (spec === '*') return [{ generality: 1 }]
  const accounts = names.accounts()
  const id = kind === 'user' ? accounts.userId(spec) : accounts.groupId(spec)
  if (id === undefined) return `unknown ${kind} "${spec}" is left out`
  return [kind === 'user' ? { id, generality: 0 } : { id, members: accounts.membersOf(spec), generality: 0 }]
}

function unknownHost(spec: string): string {
  return `host "${spec}" is unknown and left out`
}

async function hostPatterns(spec: string, names: NameService): Promise<Pattern[] | string> {
  if (spec === '*')
    return [
      { prefix: [], width: 4, generality: 4 },
      { prefix: [], width: 16, generality: 8 },
      { generality: 1 },
    ]
  if (spec.startsWith('unix:')) return [{ generality: 1 }]
  if (spec === 'local:*')
    return [{ generality: 1 }, { prefix: [127, 0, 0, 1], width: 4, isLocalHost: true, generality: 0 }]
  const star = spec.indexOf('*')
  if (star >= 0)
    return star === spec.length - 1 ? wildcard(spec) : `Wildcard in host pattern "${spec}" is not at the end`
  const addresses = parseAddress(spec) === undefined ? await names.addressesOf(spec) : [spec]
  const parsed = addresses.map(parseAddress).filter((bytes) => bytes !== undefined)
  if (parsed.length === 0) return unknownHost(spec)
  const own = names.ownAddresses().map(parseAddress)
  const isOwn = parsed.some(
    (bytes) => isLoopback(bytes) || own.some((other) => other !== undefined && startsWith(other, bytes)),
  )
  if (isOwn) return [{ prefix: [127, 0, 0, 1], width: 4, isLocalHost: true, generality: 0 }]
  return parsed.map((prefix) => ({ prefix, width: prefix.length as 4 | 16, generality: 0 }))
}

/** `10.1.*` or `fe80:*`. */
function wildcard(spec: string): Pattern[] | string {
  const body = spec.slice(0, -1)
  if (body.includes(':')) {
    const groups = body === ':' ? [] : body.slice(0, -1).split(':')
    const isBad =
      !body.endsWith(':') || groups.length > 7 || groups.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))
    if (isBad) return `Bad IPv6 address wildcard, ${spec}`
    const prefix = groups.flatMap((group) => [
      Number.parseInt(group, 16) >> 8,
      Number.parseInt(group, 16) & 255,
    ])
    return [{ prefix, width: 16, generality: 8 - groups.length }]
  }
  const parts = body === '.' ? [] : body.slice(0, -1).split('.')
  if (parts.length > 3) return `Too many dots in host pattern "${spec}"`
  const isBad = !body.endsWith('.') || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)
  if (isBad) return `Bad IP address wildcard, ${spec}`
  return [{ prefix: parts.map(Number), width: 4, generality: 4 - parts.length }]
}

/** Returns the bytes of an IPv4 or IPv6 address (IPv4-mapped as IPv4), or undefined for other text. */
export function parseAddress(text: string): number[] | undefined {
  const plain = text.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (/^\d+(\.\d+){3}$/.test(plain)) {
    const bytes = plain.split('.').map(Number)
    return bytes.every((byte) => byte < 256) ? bytes : undefined
  }
  if (!/^[0-9a-f:]+$/i.test(plain) || !plain.includes(':')) return undefined
  const [head = '', tail] = plain.split('::')
  const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const missing = 8 - before.length - after.length
  if (missing < 0 || (tail === undefined && missing !== 0)) return undefined
  const groups = [...before, ...Array<string>(missing).fill('0'), ...after]
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
}

function isLoopback(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 127
  return bytes.every((byte, i) => byte === (i === 15 ? 1 : 0))
}

function startsWith(address: readonly number[], prefix: readonly number[]): boolean {
  return prefix.length <= address.length && prefix.every((byte, i) => byte === address[i])
}

function isSamePattern(a: AccessRule, b: AccessRule): boolean {
  return (
    a.subject === b.subject &&
    a.width === b.width &&
    a.generality === b.generality &&
    a.id === b.id &&
    a.isLocalHost === b.isLocalHost &&
    a.prefix?.join() === b.prefix?.join()
  )
}

function clash(a: AccessRule, b: AccessRule): boolean {
  const both = a.specified & b.specified
  const limitsDiffer =
    a.maxConnections !== undefined && b.maxConnections !== undefined && a.maxConnections !== b.maxConnections
  return (a.denied & both) !== (b.denied & both) || limitsDiffer
}

function merge(a: AccessRule, b: AccessRule): AccessRule {
  return {
    ...a,
    specified: a.specified | b.specified,
    denied: a.denied | b.denied,
    maxConnections: a.maxConnections ?? b.maxConnections,
  }
}
