/**
 * Running instances of this machine: what each writes about itself, and where others look for it. docs/decisions/discovery.md
 *
 *     RUN/instance.json   one running instance, written by it
 *     RUN/pmcd.socket     its collector
 *     RUN/instances/HASH  path of the run directory of an instance that was started with --dir
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { hasEnded, ownIdentity, type ProcessIdentity } from './process-identity.ts'
import { trustedPath } from './trusted-path.ts'

/** A part of an instance: collector, recorder, charts or alerts. */
export interface InstancePart {
  readonly name: string
  /** Process id; undefined while it does not run. */
  readonly pid?: number
  /** Why it does not run. */
  readonly problem?: string
}

/** What an instance writes about itself. */
export interface InstanceRecord {
  readonly process: ProcessIdentity
  readonly version: string
  /** Version of Node. */
  readonly node: string
  /** Milliseconds since the epoch. */
  readonly started: number
  readonly confPath: string
  readonly logPath: string
  /** TCP port of the collector, on loopback unless `listen` names addresses. */
  readonly port: number
  readonly listen: readonly string[]
  readonly hasSocket: boolean
  readonly agents: readonly string[]
  readonly parts: readonly InstancePart[]
  /** Port of the charts; undefined without them. */
  readonly webPort?: number
  /** Directory of this host's archives; undefined without recording. */
  readonly archiveDir?: string
  readonly keepDays?: number
  readonly keepBytes?: number
}

/** A place where a collector may run. */
export interface CollectorPlace {
  readonly runDir: string
  readonly socketPath: string
  /** The instance that says it runs there; undefined without one, or for a dead one. */
  readonly record?: InstanceRecord
  /** Why this place is not used. */
  readonly problem?: string
}

/** A running instance and where it runs. */
export type LocatedInstance = CollectorPlace & { readonly record: InstanceRecord }

/** Name of the file that describes the instance of a run directory. */
export const INSTANCE_FILE = 'instance.json'
/** Name of the directory of pointers to instances elsewhere. */
export const POINTER_DIR = 'instances'
export const POINTER_NAME: RegExp = /^[0-9a-f]{16}$/
/** Most pointers in a directory. */
export const MAX_POINTERS = 64
/** Run directory of our system service. */
export const SERVICE_RUN_DIR = '/run/pcp-ts'
/** Variable with the directories in which running collectors are looked for; empty: in none. */
export const RUN_DIRS = 'PCP_TS_RUN_DIRS'

const MAX_BYTES = 64 * 1024
const MAX_ITEMS = 256
const OTHERS_MAY_WRITE = 0o002

/** Returns the run directories in which collectors of this host are looked for, nearest first. */
export function runDirs(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  const dirs = (variables[RUN_DIRS] ?? '').split(delimiter).filter((dir) => isAbsolute(dir))
  return [...new Set(dirs)].slice(0, MAX_POINTERS)
}

/**
 * Returns the places of collectors in the order of preference: in each run directory its own, then those it points to, the
 * youngest first. A place that another user controls has a `problem` and must not be used.
 */
export function collectorPlaces(dirs: readonly string[]): readonly CollectorPlace[] {
  const places = new Map<string, CollectorPlace>()
  for (const dir of dirs) {
    if (!places.has(dir)) places.set(dir, placeIn(dir))
    for (const place of pointedFrom(dir)) if (!places.has(place.runDir)) places.set(place.runDir, place)
  }
  return [...places.values()]
}

/** Returns the running instances of these run directories. */
export function instancesIn(dirs: readonly string[]): readonly LocatedInstance[] {
  return collectorPlaces(dirs).filter((place): place is LocatedInstance => place.record !== undefined)
}

function placeIn(runDir: string): CollectorPlace {
  const place = { runDir, socketPath: join(runDir, 'pmcd.socket') }
  const problem = distrust(runDir)
  if (problem !== undefined) return { ...place, problem }
  const record = readInstance(runDir)
  return record === undefined || !runsHere(record.process) ? place : { ...place, record }
}

/** Process ids and ports of other containers mean nothing here. */
function runsHere(process: ProcessIdentity): boolean {
  const { host, namespace } = ownIdentity()
  return process.host === host && process.namespace === namespace && !hasEnded(process)
}

/** Only directories of this user and root may point elsewhere, and only to such directories. */
function pointedFrom(dir: string): readonly CollectorPlace[] {
  const pointers = join(dir, POINTER_DIR)
  const found: LocatedInstance[] = []
  for (const name of pointerNames(pointers)) {
    const runDir = readSmall(join(pointers, name))?.trim()
    if (runDir === undefined || !isAbsolute(runDir) || !isOwnPath(runDir)) continue
    const { record, ...place } = placeIn(runDir)
    if (record !== undefined) found.push({ ...place, record })
  }
  return found.sort((a, b) => b.record.started - a.record.started || (a.runDir < b.runDir ? -1 : 1))
}

/** Returns the names of pointers in a directory that only this user and root control; none without it. */
export function pointerNames(pointers: string): readonly string[] {
  try {
    if (!isOwnPath(pointers)) return []
    const names = readdirSync(pointers).filter((name) => POINTER_NAME.test(name))
    return names.sort().slice(0, MAX_POINTERS)
  } catch {
    return [] // no such directory, the usual case
  }
}

function isOwnPath(path: string): boolean {
  return whyNot(() => trustedPath(path)) === undefined
}

/**
 * Returns why other users may have put files into a run directory. The directory of a service belongs to its account: root
 * made it in a directory that only root can write to.
 */
function distrust(runDir: string): string | undefined {
  const problem = whyNot(() => trustedPath(runDir))
  if (problem === undefined) return undefined
  const isOfService = whyNot(() => {
    const stats = lstatSync(join(trustedPath(dirname(runDir)), basename(runDir)))
    if (!stats.isDirectory() || (stats.mode & OTHERS_MAY_WRITE) !== 0) throw new Error('not of a service')
  })
  return isOfService === undefined ? undefined : problem
}

function whyNot(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Returns what the instance of a run directory wrote, whether or not it still runs; undefined without a valid file. */
export function readInstance(runDir: string): InstanceRecord | undefined {
  const text = readSmall(join(runDir, INSTANCE_FILE))
  return text === undefined ? undefined : parseInstance(text)
}

/** Reads a small regular file, never through a link; undefined if there is none. */
function readSmall(path: string): string | undefined {
  let fd: number
  try {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const stats = fstatSync(fd)
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(fd, 'utf8') : undefined
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Parses the text of an instance file; undefined if anything in it is not as an instance writes it. */
export function parseInstance(text: string): InstanceRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isFields(value) || !isFields(value['process'])) return undefined
  const { process, version, node, started, confPath, logPath, port, listen, hasSocket, agents, parts } = value
  const { webPort, archiveDir, keepDays, keepBytes } = value
  const { pid, start, boot, namespace, host } = process
  if (!isCount(pid) || !isWord(start) || !isWord(boot) || !isWord(namespace) || !isWord(host))
    return undefined
  if (!isWord(version) || !isWord(node) || !isCount(started) || !isWord(confPath) || !isWord(logPath))
    return undefined
  if (!isPort(port) || typeof hasSocket !== 'boolean' || !isWords(listen) || !isWords(agents))
    return undefined
  if (!Array.isArray(parts) || parts.length > MAX_ITEMS || !parts.every(isPart)) return undefined
  if (webPort !== undefined && !isPort(webPort)) return undefined
  if (archiveDir !== undefined && !isWord(archiveDir)) return undefined
  if (![keepDays, keepBytes].every((each) => each === undefined || isCount(each))) return undefined
  return value as unknown as InstanceRecord
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Control characters would end up on terminals. */
function isWord(value: unknown): value is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
  return typeof value === 'string' && value.length <= 4096 && !/[\u0000-\u001f\u007f-\u009f]/.test(value)
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isWord)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isPort(value: unknown): value is number {
  return isCount(value) && value > 0 && value <= 65535
}

function isPart(value: unknown): boolean {
  if (!isFields(value) || !isWord(value['name'])) return false
  const { pid, problem } = value
  return (pid === undefined || isCount(pid)) && (problem === undefined || isWord(problem))
}
