/**
 * Durable process identities, for files that name the process that made them: a process id alone is reused. Process id, start time,
 * boot, PID namespace and host together are unique.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** One process of one boot of one host. Fields that the system does not provide are ''. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time in clock ticks since boot, `/proc/PID/stat` field 22. */
  readonly start: string
  /** `/proc/sys/kernel/random/boot_id` */
  readonly boot: string
  /** PID namespace, `pid:[4026531836]`: ids in another container have no meaning here. */
  readonly namespace: string
  readonly host: string
}

/** Field 22 of /proc/PID/stat, counted from the state, which follows the command's closing parenthesis. */
const START_FIELD = 19
/** States of zombies and of processes that are being removed. */
const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])
const TOKEN_BYTES = 6
const HASH_CHARS = 8
const OWNED = /^(\d+)-(\d*)-([0-9a-f]{8})-([0-9a-f]{8})-[0-9a-f]{12}$/

let own: ProcessIdentity | undefined

/** Identifies this process. */
export function ownIdentity(): ProcessIdentity {
  if (own !== undefined) return own
  const identity = {
    pid: process.pid,
    start: statOf(process.pid)?.start ?? '',
    boot: readOr('/proc/sys/kernel/random/boot_id').trim(),
    namespace: namespaceOf(),
    host: hostname(),
  }
  // If something could not be read, for example for lack of file descriptors, it is tried again next time.
  if (identity.start !== '' && identity.boot !== '' && identity.namespace !== '') own = identity
  return identity
}

/** Returns a new file name, `PID-START-BOOT-PLACE-TOKEN`, which identifies this process even while the file is empty. */
export function ownedName(): string {
  return `${ownPrefix()}${newToken()}`
}

/** Returns whether a name has the form of `ownedName`. */
export function isOwnedName(name: string): boolean {
  return OWNED.test(name)
}

/** Returns whether this process made a name. */
export function isOwnName(name: string): boolean {
  return name.startsWith(ownPrefix())
}

/** Returns whether the process that made a name has certainly ended; undefined for other hosts and containers. */
export function hasNameEnded(name: string): boolean | undefined {
  const [, pid, start, boot, place] = OWNED.exec(name) ?? []
  if (pid === undefined) return undefined
  const here = ownIdentity()
  if (place !== hash(`${here.host} ${here.namespace}`)) return undefined
  const owner: ProcessIdentity = { ...here, pid: Number(pid), start: start! }
  const isOther = boot !== hash(here.boot) && boot !== hash('')
  return hasEnded(isOther ? { ...owner, boot: `not ${here.boot}` } : owner)
}

function ownPrefix(): string {
  const { pid, start, boot, host, namespace } = ownIdentity()
  return `${pid}-${start}-${hash(boot)}-${hash(`${host} ${namespace}`)}-`
}

function hash(text: string): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)
}

/** Returns 12 random hexadecimal digits. */
function newToken(): string {
  // Loaded on demand: most commands only read.
  return process.getBuiltinModule('node:crypto').randomBytes(TOKEN_BYTES).toString('hex')
}

/** Formats one line: `host:pid start boot namespace`. */
export function formatIdentity({ pid, start, boot, namespace, host }: ProcessIdentity): string {
  return `${host}:${pid} ${start || '-'} ${boot || '-'} ${namespace || '-'}`
}

/** Parses a line of `formatIdentity`; undefined for any other text. */
export function parseIdentity(line: string): ProcessIdentity | undefined {
  const [, host, pid, start, boot, namespace] =
    /^(\S+):([1-9]\d{0,9}) (\S+) (\S+) (\S+)$/.exec(line.trim()) ?? []
  if (host === undefined) return undefined
  const field = (text: string | undefined): string => (text === undefined || text === '-' ? '' : text)
  return {
    pid: Number(pid),
    start: field(start),
    boot: field(boot),
    namespace: field(namespace),
    host,
  }
}

/**
 * Returns whether a process has certainly ended: its host was rebooted, or its id is free or reused.
 * False for processes of other hosts and containers, about which nothing is known here.
 */
export function hasEnded(identity: ProcessIdentity): boolean {
  const here = ownIdentity()
  if (identity.host !== here.host) return false
  // Without /proc, boots are unknown: the process id decides.
  const knowsBoot = identity.boot !== '' && here.boot !== ''
  if (knowsBoot && identity.boot !== here.boot) return true
  if (identity.namespace !== here.namespace) return false
  if (!isAlive(identity.pid)) return true
  const now = statOf(identity.pid)
  if (now === undefined) return false
  // A zombie keeps its id until its parent waits for it.
  return ENDED.has(now.state) || (identity.start !== '' && now.start !== identity.start)
}

/** Returns whether there is a process with this id. */
export function isAlive(pid: number): boolean {
  if (pid <= 0) return false // process groups
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}

/** Returns state and start time of a process; undefined if it does not exist, or without /proc. */
function statOf(pid: number): { readonly state: string; readonly start: string } | undefined {
  const stat = readOr(`/proc/${pid}/stat`)
  // The command may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const start = fields[START_FIELD]
  return start === undefined ? undefined : { state: fields[0]!, start }
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '' // without /proc, identities differ only by process id
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // no such process, or no /proc
  }
}
