/** Ways of finding hosts: a subnet, or what programs list. pmfind(1) */
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import type { Variables } from '../../sys/config.ts'

/** Where to look. */
export interface Mechanism {
  /** Addresses of hosts that may have services. */
  readonly addresses: () => Iterable<string>
  /** How many are asked at a time. */
  readonly together: number
  /** How long each has to answer, in milliseconds. */
  readonly waitMs: number
}

const MOST_TOGETHER = 1024
/** Ten times what PCP waits: a host that is busy takes longer than that to accept a connection. */
const WAIT_MS = 200
/** Addresses of a subnet that nobody wants to wait for. */
const MOST_BITS = 20

/** The mechanisms that a text names. EINVAL, with what is wrong, for one that there is not. */
export function parseMechanism(text: string, variables: Variables): Mechanism[] {
  const [first = '', ...options] = text.split(',')
  if (text === 'all') return [ownHost()]
  if (first === 'avahi')
    throw new PcpError('EINVAL', 'avahi: mDNS is not there: use probe=ADDRESS/BITS or shell')
  const [name, value] = splitAt(first, '=')
  if (name === 'probe') return [{ ...limits(options, []), addresses: subnet(value) }]
  if (first === 'shell') {
    const { path, command, ...rest } = limits(options, ['path', 'command'])
    const folder = path ?? join(variables['PCP_BINADM_DIR'] ?? '/usr/lib/pcp/bin', 'discover')
    return [{ ...rest, addresses: () => listed(folder, command) }]
  }
  throw new PcpError('EINVAL', `"${text}" is no mechanism: there are probe=ADDRESS/BITS, shell and all`)
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
    else throw new PcpError('EINVAL', `option "${option}" is not valid: maxThreads=N and timeout=SECONDS are`)
  }
  return found
}

/** This host, in place of what it would tell others of itself. */
function ownHost(): Mechanism {
  const addresses = (): string[] =>
    Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter((each) => each.family === 'IPv4' || each.scopeid === 0) // others mean nothing without an interface
      .map(({ address }) => address)
  return { addresses, together: MOST_TOGETHER, waitMs: WAIT_MS }
}

/** All addresses of a subnet, one after the other. */
function subnet(text: string): () => Iterable<string> {
  const [address, bits] = splitAt(text, '/')
  const family = isIP(address)
  if (family === 0) throw new PcpError('EINVAL', `address "${address}" is not valid: give ADDRESS/BITS`)
  const width = family === 4 ? 32 : 128
  if (!/^\d+$/.test(bits) || Number(bits) > width)
    throw new PcpError('EINVAL', `"${text}" has no mask of up to ${width} bits: give ADDRESS/BITS`)
  const free = width - Number(bits)
  if (free > MOST_BITS)
    throw new PcpError('EINVAL', `"${text}" has more than ${2 ** MOST_BITS} addresses: give a longer mask`)
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

/** As addresses are written: with the longest row of zeros left out. */
function text6(number: bigint): string {
  const words = Array.from({ length: 8 }, (_, i) => ((number >> BigInt(16 * (7 - i))) & 0xffffn).toString(16))
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1)
}

/** The words that the programs of a folder, or one of them, print: names and addresses of hosts. */
function listed(folder: string, command: string | undefined): string[] {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const found: string[] = []
  for (const name of command === undefined ? programsIn(folder) : [command]) {
    const path = name.includes('/') ? name : join(folder, name)
    const { stdout, error } = spawnSync(path, [], {
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    })
    if (error !== undefined)
      throw new PcpError('PM_ERR_GENERIC', `${path}: ${PcpError.from(error).text}`, { cause: error })
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
    return [] // nobody has put programs there
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // it is not there any more, or not for this user
  }
}
