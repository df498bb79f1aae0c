/** Host specifications: where a collector is and how to get there. PCPIntro(1), pmNewContext(3) */
import { decodeText, encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>

/** One host with its ports in the order to try; empty for the default ports. */
export interface HostPorts {
  readonly name: string
  readonly ports: readonly number[]
}

/** An attribute after the question mark, by its long name. */
export interface HostAttr {
  readonly name: string
  /** Undefined when there is no '='. */
  readonly value: string | undefined
}

/** A parsed host specification. */
export interface HostSpec {
  /** The original text. */
  readonly text: string
  /** Undefined when not given, which means pcp. */
  readonly scheme: Scheme | undefined
  /** The collector's host, then proxies; for unix and local a single entry whose name is the socket's path. */
  readonly hosts: readonly HostPorts[]
  /** In the order given. */
  readonly attrs: readonly HostAttr[]
}

/** pcp and pcps use TCP; unix a socket; local tries that socket, then TCP on localhost. */
export type Scheme = 'pcp' | 'pcps' | 'unix' | 'local'

const SCHEMES = ['pcps', 'pcp', 'unix', 'local'] as const satisfies readonly Scheme[]

/** Attributes by the names accepted: long name, and position in formatted text. */
const ATTRS: Readonly<Record<string, readonly [name: string, order: number]>> = {
  secure: ['secure', 2],
  compress: ['compress', 3],
  userauth: ['userauth', 4],
  authorise: ['userauth', 4],
  authorize: ['userauth', 4],
  user: ['username', 5],
  username: ['username', 5],
  pass: ['password', 7],
  password: ['password', 7],
  method: ['method', 8],
  authmeth: ['method', 8],
  realm: ['realm', 9],
  unix: ['unixsock', 10],
  unixsock: ['unixsock', 10],
  uid: ['userid', 11],
  userid: ['userid', 11],
  gid: ['groupid', 12],
  groupid: ['groupid', 12],
  local: ['local', 13],
  pid: ['processid', 14],
  processid: ['processid', 14],
  container: ['container', 15],
  exclusive: ['exclusive', 16],
}

/** Attributes that are written without a value. */
const BARE = ['compress', 'userauth', 'exclusive']

/**
 * Parses `[scheme:[//]]host[:port,...][@proxy...][?attribute=value&...]`. Throws PM_ERR_GENERIC with a two-line message
 * whose second line points at the error, and EINVAL for a bad escape in an attribute or a control character.
 * @see __pmParseHostAttrsSpec(3)
 */
export function parseHostSpec(text: string, env: Env = {}): HostSpec {
  // They would be forwarded in lines of text, to proxies and logs.
  if (hasControl(text)) throw new PcpError('EINVAL', 'A host specification must not have control characters')
  const scheme = SCHEMES.find((name) => text.startsWith(`${name}:`))
  let at = scheme === undefined ? 0 : scheme.length + 1
  if (scheme !== undefined) while (text[at] === '/') at++
  const parsed = scheme === 'unix' || scheme === 'local' ? parsePath(text, at, env) : parseHosts(text, at)
  const attrs = text[parsed.at] === '?' ? parseAttrs(text.slice(parsed.at + 1)) : []
  return { text, scheme, hosts: parsed.hosts, attrs }
}

/** Returns an attribute by its long name: '' without a value, undefined when absent. The last occurrence wins. */
export function hostAttr(spec: HostSpec, name: string): string | undefined {
  const attr = [...spec.attrs].reverse().find((candidate) => candidate.name === name)
  return attr === undefined ? undefined : (attr.value ?? '')
}

/** Returns a host specification for messages, with the password masked. */
export function showHostSpec(text: string): string {
  return text.replace(/([?&](?:pass|password)=)[^&/]+/g, '$1***')
}

/** Returns the path of the collector's unix socket. */
export function defaultSocketPath(env: Env): string {
  return env['PMCD_SOCKET'] ?? `${env['PCP_RUN_DIR'] ?? '/run/pcp'}/pmcd.socket`
}

/** Returns whether a specification means the collector of this host without naming its socket. */
export function isUnnamedLocal({ scheme, text }: HostSpec): boolean {
  return scheme === 'local' && /^local:\/*(?:\?|$)/.test(text)
}

/** Formats a host specification in its shortest form. @see __pmUnparseHostAttrsSpec(3) */
export function formatHostSpec(spec: HostSpec): string {
  const first = spec.hosts[0]
  if (first === undefined) return ''
  const attrs = [...spec.attrs]
    .reverse()
    .filter((attr) => attr.name !== 'unixsock' && attr.name !== 'local')
    .sort((a, b) => ATTRS[b.name]![1] - ATTRS[a.name]![1])
    .map((attr) => (BARE.includes(attr.name) ? attr.name : `${attr.name}=${encodeQuery(attr.value ?? '')}`))
  const query = attrs.length === 0 ? '' : `?${attrs.join('&')}`
  const path = pathScheme(spec)
  if (path !== undefined) return `${path}:/${first.name}${query}`
  const scheme = spec.scheme === undefined ? '' : `${spec.scheme}://`
  return `${scheme}${spec.hosts.map(formatHost).join('@')}${query}`
}

function pathScheme(spec: HostSpec): Scheme | undefined {
  if (spec.scheme === 'unix' || hostAttr(spec, 'unixsock') !== undefined) return 'unix'
  return spec.scheme === 'local' || hostAttr(spec, 'local') !== undefined ? 'local' : undefined
}

function formatHost(host: HostPorts): string {
  const name = host.name.includes(':') ? `[${host.name}]` : host.name
  return host.ports.length === 0 ? name : `${name}:${host.ports.join(',')}`
}

interface Parsed {
  readonly hosts: readonly HostPorts[]
  /** Offset of the character that ended the hosts. */
  readonly at: number
}

function fail(text: string, at: number, problem: string): never {
  throw new PcpError('PM_ERR_GENERIC', `${showHostSpec(text)}\n${' '.repeat(at)}^ -- ${problem}\n`)
}

function parsePath(text: string, start: number, env: Env): Parsed {
  let at = start
  while (at < text.length && text[at] !== ':' && text[at] !== '?') at++
  if (text[at] === ':') fail(text, at, 'unexpected terminal character')
  const name = at === start ? defaultSocketPath(env) : `/${text.slice(start, at)}`
  return { hosts: [{ name, ports: [] }], at }
}

function parseHosts(text: string, start: number): Parsed {
  const hosts: HostPorts[] = []
  let at = start
  if (at === text.length || text[at] === '?') return { hosts, at }
  for (;;) {
    const host = parseHost(text, at)
    at = host.at
    if (host.name === '' && (text[at] === ':' || text[at] === '@'))
      fail(text, at, 'unexpected terminal character')
    const ports: number[] = []
    if (text[at] === ':') at = parsePorts(text, at + 1, ports)
    hosts.push({ name: host.name, ports })
    if (text[at] !== '@') return { hosts, at }
    at++
  }
}

/** Parses a name up to its delimiter; brackets allow colons in it. */
function parseHost(text: string, start: number): { readonly name: string; readonly at: number } {
  // Like PCP, '[]' is parsed as a host named ']' (vectors/format/host_spec.json).
  if (text[start] === '[') {
    const close = text.indexOf(']', start + 1)
    if (close < 0) fail(text, text.length, "missing closing ']' for host spec")
    const at = close + 1
    if (at < text.length && !':@/?'.includes(text[at]!)) fail(text, at, 'extra characters after host spec')
    return { name: close === start + 1 ? ']' : text.slice(start + 1, close), at }
  }
  let at = start
  while (at < text.length && !':@/?'.includes(text[at]!)) at++
  return { name: text.slice(start, at), at }
}

function parsePorts(text: string, start: number, ports: number[]): number {
  let at = start
  for (;;) {
    const first = at
    while (at < text.length && !',@/?'.includes(text[at]!)) {
      if (text[at]! < '0' || text[at]! > '9') fail(text, at, 'non-numeric port')
      at++
    }
    if (at === first) fail(text, at, 'missing port')
    ports.push(Number(text.slice(first, at)))
    if (text[at] !== ',') return at
    at++
  }
}

function parseAttrs(query: string): HostAttr[] {
  const attrs: HostAttr[] = []
  const slash = query.indexOf('/')
  for (const part of (slash < 0 ? query : query.slice(0, slash)).split('&')) {
    const [name, value, extra] = part.split('=')
    const known = ATTRS[name!]
    if (known === undefined || !Object.hasOwn(ATTRS, name!) || extra !== undefined) continue
    attrs.push({ name: known[0], value: value === undefined ? undefined : decodeQuery(value) })
  }
  return attrs
}

/** Returns whether a text has C0 controls or DEL. */
function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
  return /[\u0000-\u001f\u007f]/.test(text)
}

function decodeQuery(text: string): string {
  const bytes = encodeText(text.replaceAll('+', ' '))
  const out: number[] = []
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] !== 0x25) {
      out.push(bytes[i]!)
      continue
    }
    const digits = decodeText(bytes, i + 1, Math.min(i + 3, bytes.length))
    if (!/^[0-9a-fA-F]{2}$/.test(digits))
      throw new PcpError('EINVAL', 'Bad escape in the value of an attribute: % takes two hexadecimal digits')
    out.push(Number.parseInt(digits, 16))
    i += 2
  }
  const decoded = decodeText(Uint8Array.from(out))
  if (hasControl(decoded))
    throw new PcpError('EINVAL', 'The value of an attribute must not have control characters')
  return decoded
}

function encodeQuery(text: string): string {
  let out = ''
  for (const byte of encodeText(text)) {
    const char = String.fromCharCode(byte)
    if (/[A-Za-z0-9._~-]/.test(char)) out += char
    else if (char === ' ') out += '+'
    else out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}
