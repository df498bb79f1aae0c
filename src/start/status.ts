/** What runs on this machine and how it is: `pcp-ts status`. Facts are those of instance files, metrics and archives. docs/how-to/whats-running.md */
import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withTimeout } from '../base/within.ts'
import { agentProblem } from '../model/agent-status.ts'
import { PcpError } from '../model/errors.ts'
import { openArchive } from '../pmapi/archive.ts'
import { connect } from '../pmapi/connect.ts'
import type { Context } from '../pmapi/context.ts'
import { presentNames } from '../pmapi/present-names.ts'
import type { MetricValues, Row } from '../pmapi/row.ts'
import { loadConfig, userDirs, type Variables } from '../sys/config.ts'
import {
  type CollectorPlace,
  collectorPlaces,
  type InstanceRecord,
  SERVICE_RUN_DIR,
} from '../sys/instances.ts'
import { type StoredArchive, storedArchives, storedBytes } from './retention.ts'

/** Longest time for one source of facts. */
const SOURCE_MS = 2000
const DAY_MS = 86_400_000
/** A recording whose last value is older has stopped. */
const STALE_MS = 10 * 60_000
/** Free space below which recording will soon fail. */
const LOW_BYTES = 100 * 1024 * 1024
const CLOCK_TICKS = 100

/** Whose instance it is. */
export type InstanceKind = 'user' | 'service' | 'pcp'

/** An agent of a collector. */
export interface AgentStatus {
  readonly name: string
  readonly isRunning: boolean
  /** Why it does not run. */
  readonly problem?: string
}

/** Archives of an instance. */
export interface RecordingStatus {
  readonly dir: string
  /** Base name of the newest archive. */
  readonly archive?: string
  /** Size of all archives. */
  readonly bytes: number
  /** Time of the last record, in milliseconds since the epoch. */
  readonly lastMs?: number
  /** Growth, of the time recorded. */
  readonly bytesPerDay?: number
  readonly keepDays?: number
  readonly keepBytes?: number
  readonly freeBytes?: number
  readonly totalBytes?: number
}

/** A process of an instance. */
export interface ProcessStatus {
  readonly name: string
  readonly pid: number
  /** Resident memory. */
  readonly bytes?: number
  /** CPU time in seconds since its start. */
  readonly cpuSeconds?: number
}

/** State of one instance. */
export interface InstanceStatus {
  readonly kind: InstanceKind
  readonly runDir: string
  readonly pid?: number
  readonly version?: string
  readonly node?: string
  readonly uptimeSeconds?: number
  readonly addresses: readonly string[]
  readonly web?: string
  readonly clients?: number
  readonly agents: readonly AgentStatus[]
  readonly recording?: RecordingStatus
  readonly processes: readonly ProcessStatus[]
  readonly log?: string
  readonly settings?: string
  /** What fails, one sentence each; empty if all is well. */
  readonly problems: readonly string[]
}

/** Environment of `statusOf`, replaced in tests. */
export interface StatusIo {
  readonly env: Variables
  readonly now: () => number
  /** Reads a file of /proc; undefined if it is missing. */
  readonly readText: (path: string) => string | undefined
  readonly connect?: typeof connect
  readonly serviceRunDir?: string
  /** Time limit of one source. */
  readonly sourceMs?: number
}

/** Returns the state of all instances: the user's, that of our system service, and an installed PCP's collector if it runs. */
export async function statusOf(io: StatusIo): Promise<readonly InstanceStatus[]> {
  const service = io.serviceRunDir ?? SERVICE_RUN_DIR
  const { run } = userDirs(io.env)
  const pcp = loadConfig({ ...io.env }).variables['PCP_RUN_DIR'] ?? run
  const places = collectorPlaces([...new Set([run, pcp, service])])
  const kindOf = ({ runDir }: CollectorPlace): InstanceKind => {
    if (runDir === service) return 'service'
    return runDir === pcp && pcp !== run ? 'pcp' : 'user'
  }
  const found = await Promise.all(
    places
      .filter(({ problem }) => problem === undefined)
      .map((place) => statusOfPlace(place, kindOf(place), io)),
  )
  return found.filter((each): each is InstanceStatus => each !== undefined)
}

/** PCP's collector does not have the last. */
const METRICS = [
  'pmcd.version',
  'pmcd.pid',
  'pmcd.numclients',
  'pmcd.agent.status',
  'pmcd.agent.fenced',
  'pmcd.agent.failure',
]

async function statusOfPlace(
  { runDir, socketPath, record }: CollectorPlace,
  kind: InstanceKind,
  io: StatusIo,
): Promise<InstanceStatus | undefined> {
  const target = record?.hasSocket === false ? `localhost:${record.port}` : `unix:${socketPath}`
  const [facts, recording] = await Promise.all([
    askCollector(target, io),
    recordingOf(record, io).catch((error: unknown) => PcpError.from(error)),
  ])
  // No instance, and no collector either.
  if (record === undefined && facts instanceof PcpError && isAbsent(facts)) return undefined
  const problems: string[] = []
  if (facts instanceof PcpError) problems.push(`The collector does not answer: ${facts.message}`)
  if (recording instanceof PcpError) problems.push(`The archives cannot be read: ${recording.message}`)
  const agents = facts instanceof PcpError ? [] : agentsOf(facts, record)
  for (const { name, problem } of agents) if (problem !== undefined) problems.push(`Agent ${name} ${problem}`)
  for (const { name, problem } of record?.parts ?? [])
    if (problem !== undefined) problems.push(`The ${name} is restarted: ${problem}`)
  const known = recording instanceof PcpError ? undefined : recording
  problems.push(...problemsOfRecording(known, record, io.now()))
  const pid = record?.process.pid ?? (facts instanceof PcpError ? undefined : count(facts, 'pmcd.pid'))
  const version = record?.version ?? (facts instanceof PcpError ? undefined : text(facts, 'pmcd.version'))
  const clients = facts instanceof PcpError ? undefined : count(facts, 'pmcd.numclients')
  const started = record?.started ?? (pid === undefined ? undefined : startedOf(pid, io))
  const parts =
    record === undefined
      ? pid === undefined
        ? []
        : [{ name: 'collector', pid }]
      : [{ name: 'supervisor', pid: record.process.pid }, ...record.parts]
  return {
    kind,
    runDir,
    ...defined({
      pid,
      version,
      clients,
      node: record?.node,
      log: record?.logPath,
      settings: record?.confPath,
    }),
    ...(started === undefined ? {} : { uptimeSeconds: Math.max(0, Math.round((io.now() - started) / 1000)) }),
    addresses: addressesOf(socketPath, record),
    ...(record?.webPort === undefined ? {} : { web: `http://localhost:${record.webPort}` }),
    agents,
    ...(known === undefined ? {} : { recording: known }),
    processes: parts.flatMap((part) => (part.pid === undefined ? [] : [processOf(part.name, part.pid, io)])),
    problems,
  }
}

/** Returns the fields that have a value. */
function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

function isAbsent({ code }: PcpError): boolean {
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR'
}

function addressesOf(socketPath: string, record: InstanceRecord | undefined): readonly string[] {
  if (record === undefined) return [socketPath]
  const hosts = record.listen.length === 0 ? ['localhost'] : record.listen
  const over = hosts.map((host) => `${host === 'all' ? '*' : host}:${record.port}`)
  return record.hasSocket ? [...over, socketPath] : over
}

/** Fetches the collector's own metrics; returns the error of a collector that does not answer. */
async function askCollector(target: string, io: StatusIo): Promise<Row | PcpError> {
  const { sourceMs = SOURCE_MS } = io
  const seconds = String(sourceMs / 1000)
  const stop = new AbortController()
  const ask = async (): Promise<Row> => {
    const env = { ...io.env, PMCD_CONNECT_TIMEOUT: seconds, PMCD_REQUEST_TIMEOUT: seconds }
    const context: Context = await (io.connect ?? connect)(target, { env, signal: stop.signal })
    try {
      return await context.values(await presentNames(context, METRICS))
    } finally {
      await context.close()
    }
  }
  const asked = ask().catch((error: unknown) => PcpError.from(error))
  const answer = await withTimeout(sourceMs, asked)
  if (answer !== undefined) return answer
  stop.abort()
  return new PcpError('ETIMEDOUT', `no answer from ${target} within ${seconds} s`)
}

function count(row: Row, metric: string): number | undefined {
  const value = metricOf(row, metric)?.value
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

function text(row: Row, metric: string): string | undefined {
  const value = metricOf(row, metric)?.value
  return typeof value === 'string' ? value : undefined
}

/** Returns a metric; undefined if the collector does not have it. */
function metricOf(row: Row, metric: string): MetricValues | undefined {
  return [...row].find(({ name }) => name === metric)
}

/** Returns the collector's agents, and those of the instance that it lacks. */
function agentsOf(row: Row, record: InstanceRecord | undefined): readonly AgentStatus[] {
  const failures = metricOf(row, 'pmcd.agent.failure')?.instances
  const fenced = metricOf(row, 'pmcd.agent.fenced')?.instances
  const found = [...(metricOf(row, 'pmcd.agent.status')?.instances ?? [])].map(
    ([name, status]): AgentStatus => {
      const ended = agentProblem(Number(status))
      const why = failures?.get(name)
      const isFenced = Number(fenced?.get(name) ?? 0) === 1
      if (ended !== undefined)
        return {
          name,
          isRunning: false,
          problem: typeof why === 'string' && why !== '' ? `${ended}: ${why}` : ended,
        }
      if (isFenced)
        return {
          name,
          isRunning: false,
          problem: 'is fenced off: pmstore pmcd.agent.fenced 0 lifts the fence',
        }
      return { name, isRunning: true }
    },
  )
  const missing = (record?.agents ?? []).filter((name) => !found.some((each) => each.name === name))
  const problem = `was not opened; see ${record?.logPath}`
  return [...found, ...missing.map((name) => ({ name, isRunning: false, problem }))]
}

async function recordingOf(
  record: InstanceRecord | undefined,
  io: StatusIo,
): Promise<RecordingStatus | undefined> {
  const dir = record?.archiveDir
  if (record === undefined || dir === undefined) return undefined
  const archives = storedArchives(dir)
  const newest = archives.at(-1)
  const bytes = storedBytes(archives)
  const times = newest === undefined ? undefined : await timesOf(dir, newest, io)
  const disk = diskOf(dir)
  const days = times === undefined ? 0 : (times.lastMs - times.firstMs) / DAY_MS
  return {
    dir,
    bytes,
    ...defined({ archive: newest?.name, keepDays: record.keepDays, keepBytes: record.keepBytes }),
    ...(times === undefined ? {} : { lastMs: times.lastMs }),
    // Metadata dominates the first minutes.
    ...(days * DAY_MS < 5 * 60_000 ? {} : { bytesPerDay: Math.round(newest!.bytes / days) }),
    ...disk,
  }
}

/** Returns the time of the first and the last record of an archive. */
async function timesOf(
  dir: string,
  { name }: StoredArchive,
  io: StatusIo,
): Promise<{ firstMs: number; lastMs: number } | undefined> {
  const open = async (): Promise<{ firstMs: number; lastMs: number }> => {
    await using context = await openArchive(join(dir, name), { env: io.env, stopsAtDamage: true })
    const { archive } = context
    const ms = ({ sec, nsec }: { sec: bigint | number; nsec: number }): number =>
      Number(sec) * 1000 + nsec / 1e6
    return { firstMs: ms(archive!.start), lastMs: ms(archive!.end()) }
  }
  const answer = await withTimeout(io.sourceMs ?? SOURCE_MS, open())
  if (answer === undefined) throw new PcpError('ETIMEDOUT', `${join(dir, name)} was not read in time`)
  return answer
}

function diskOf(dir: string): { freeBytes: number; totalBytes: number } | object {
  try {
    if (!statSync(dir).isDirectory()) return {}
    const { bsize, bavail, blocks } = statfsSync(dir)
    return { freeBytes: bsize * bavail, totalBytes: bsize * blocks }
  } catch {
    return {}
  }
}

function problemsOfRecording(
  recording: RecordingStatus | undefined,
  record: InstanceRecord | undefined,
  now: number,
): readonly string[] {
  if (recording === undefined || record === undefined) return []
  const { dir, archive, lastMs, freeBytes } = recording
  const problems: string[] = []
  if (archive === undefined && now - record.started > STALE_MS) problems.push(`Nothing is recorded in ${dir}`)
  if (lastMs !== undefined && now - Math.max(lastMs, record.started) > STALE_MS)
    problems.push(
      `The last value in ${join(dir, archive!)} is ${Math.round((now - lastMs) / 60_000)} minutes old`,
    )
  if (freeBytes !== undefined && freeBytes < LOW_BYTES)
    problems.push(`The disk of ${dir} is full: ${Math.floor(freeBytes / 1024 / 1024)} MiB are free`)
  return problems
}

/** Field numbers of /proc/PID/stat, from the state on. */
const UTIME = 11
const STIME = 12
const START = 19

function statFields(pid: number, io: StatusIo): readonly string[] | undefined {
  const stat = io.readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function processOf(name: string, pid: number, io: StatusIo): ProcessStatus {
  const fields = statFields(pid, io)
  const rss = /^VmRSS:\s+(\d+) kB/m.exec(io.readText(`/proc/${pid}/status`) ?? '')?.[1]
  return {
    name,
    pid,
    ...(rss === undefined ? {} : { bytes: Number(rss) * 1024 }),
    ...(fields === undefined
      ? {}
      : { cpuSeconds: (Number(fields[UTIME]) + Number(fields[STIME])) / CLOCK_TICKS }),
  }
}

function startedOf(pid: number, io: StatusIo): number | undefined {
  const ticks = Number(statFields(pid, io)?.[START])
  const boot = Number(/^btime (\d+)/m.exec(io.readText('/proc/stat') ?? '')?.[1])
  return Number.isFinite(ticks) && Number.isFinite(boot) ? (boot + ticks / CLOCK_TICKS) * 1000 : undefined
}
