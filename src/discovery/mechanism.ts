/** Discovery mechanisms: a subnet, or hosts listed by programs. pmfind(1) */
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'

/** A source of addresses to probe. */
export interface Mechanism {
  /** Returns addresses of hosts that may have services. */
  readonly addresses: () => Iterable<string>
  /** Number of simultaneous probes. */
  readonly together: number
  /** Timeout of a probe in milliseconds. */
  readonly waitMs: number
}

const MOST_TOGETHER = 1024
/** Ten times PCP's timeout, because busy hosts take longer to accept a connection. */
const WAIT_MS = 200
/** Largest subnet, in bits of host addresses. */
const MOST_BITS = 20

/** Parses the mechanisms in a text; `say` receives problems of single programs. Throws EINVAL for unknown mechanisms. */
export function parseMechanism(text: string, variables: Variables, say: (text: string) => void): Mechanism[] {
  const [first = '', ...options] = text.split(',')
  if (text === 'all') return [ownHost()]
  if (first === 'avahi')
    throw new PcpError('EINVAL', 'avahi: mDNS is not supported: use probe=ADDRESS/BITS or shell')
  const [name, value] = splitAt(first, '=')
  if (name === 'probe') return [{ ...limits(options, []), addresses: subnet(value) }]
  if (first === 'shell') {
    const { path, command, ...rest } = limits(options, ['path', 'command'])
    const folder = path ?? join(variables['PCP_BINADM_DIR'] ?? '/usr/lib/pcp/bin', 'discover')
    return [{ ...rest, addresses: () => listed(folder, command, say) }]
  }
  throw new PcpError('EINVAL', `unknown mechanism "${text}": use probe=ADDRESS/BITS, shell or all`)
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

interface Limits {
  readonly together: number
  readonly waitMs: number
  readonly path?: string
  readonly command?: string
}

function limits(options: readonly string[], others: readonly ('path' | 'command')[]): Limits {
  let found: Limits = { together: MOST_TOGETHER, waitMs: WAIT_MS }
  for (const option of options) {
    const [name, value] = splitAt(option, '=')
    const other = others.find((each) => each === name)
    if (other !== undefined) found = { ...found, [other]: value }
    else if (name === 'maxThreads' && /^[1-9]\d*$/.test(value))
      found = { ...found, together: Math.min(Number(value), MOST_TOGETHER) }
    else if (name === 'timeout' && Number(value) > 0) found = { ...found, waitMs: Number(value) * 1000 }
    else throw new PcpError('EINVAL', `invalid option "${option}": use maxThreads=N or timeout=SECONDS`)
  }
  return found
}

/** Searches this host, instead of the services it would announce over mDNS. */
function ownHost(): Mechanism {
  const addresses = (): string[] =>
    Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter((each) => each.family === 'IPv4' || each.scopeid === 0) // scoped addresses would need an interface
      .map(({ address }) => address)
  return { addresses, together: MOST_TOGETHER, waitMs: WAIT_MS }
}

/** Iterates over all addresses of a subnet. */
function subnet(text: string): () => Iterable<string> {
  const [address, bits] = splitAt(text, '/')
  const family = isIP(address)
  if (family === 0) throw new PcpError('EINVAL', `invalid address "${address}": use ADDRESS/BITS`)
  const width = family === 4 ? 32 : 128
  if (!/^\d+$/.test(bits) || Number(bits) > width)
    throw new PcpError('EINVAL', `"${text}" needs a mask of at most ${width} bits: use ADDRESS/BITS`)
  const free = width - Number(bits)
  if (free > MOST_BITS)
    throw new PcpError('EINVAL', `"${text}" has more than ${2 ** MOST_BITS} addresses: use a longer mask`)
  const number = family === 4 ? numberOf4(address) : numberOf6(address)
  const base = (number >> BigInt(free)) << BigInt(free)
  return function* () {
    for (let i = 0n; i < 1n << BigInt(free); i++) yield family === 4 ? text4(base + i) : text6(base + i)
  }
}

function numberOf4(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function text4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.')
}

function numberOf6(address: string): bigint {
  const plain = address.replace(/(\d+\.\d+\.\d+\.\d+)$/, (dotted) => {
    const number = numberOf4(dotted)
    return `${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const words = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
  return words.reduce((sum, word) => (sum << 16n) | BigInt(`0x${word}`), 0n)
}

/** Formats an IPv6 address with its longest run of zeros omitted. */
function text6(number: bigint): string {
  const words = Array.from({ length: 8 }, (_, i) => ((number >> BigInt(16 * (7 - i))) & 0xffffn).toString(16))
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1)
}

/**
 * Runs one or all programs of a folder; returns the words they print, which are names and addresses of hosts. Throws for a named program that
 * cannot run; others are reported and skipped.
 */
function listed(folder: string, command: string | undefined, say: (text: string) => void): string[] {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const found: string[] = []
  for (const name of command === undefined ? programsIn(folder) : [command]) {
    const path = name.includes('/') ? name : join(folder, name)
    const { stdout, error } = spawnSync(path, [], {
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    })
    if (error !== undefined) {
      const problem = new PcpError('PM_ERR_GENERIC', `${path}: ${PcpError.from(error).text}`, {
        cause: error,
      })
      if (command !== undefined) throw problem
      say(`${problem.message}; skipped`)
      continue
    }
    found.push(
      ...decodeText(stdout)
        .split(/\s+/)
        .filter((word) => word !== ''),
    )
  }
  return found
}

function programsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .filter((name) => isProgram(join(folder, name)))
  } catch {
    return [] // no such folder
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // removed, or not executable by this user
  }
}
