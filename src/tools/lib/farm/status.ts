/** The table of `status`: every instance and its state. pmlogctl(1) */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { decodeText } from '../../../base/text.ts'
import type { FarmInstance } from './farm-files.ts'
import { type FarmKind, type Running, unknownColumns } from './kinds.ts'

/** Options of the table. */
export interface StatusOptions {
  readonly kind: FarmKind
  readonly running: Running
  /** Adds identifiers, and the last log lines of dead daemons. */
  readonly isVerbose: boolean
  /** Returns why a primary instance does not run, if a service manager knows. */
  readonly primaryState: () => string | undefined
}

/** Lines of a log shown for a dead instance. */
const LOG_LINES = 10
/** What pmlogger logs with -r about its groups of metrics, which never explains a failure. */
const GROUP_LINE = /^\t|^Group \[|^\} logged|^preprocessor cmd:|^Config parsed/
/** Bytes read at the end of a log. */
const LOG_BYTES = 8192

/** Returns the table, sorted by host and class. */
export function statusTable(instances: readonly FarmInstance[], options: StatusOptions): string {
  const { kind, running, isVerbose } = options
  const rows = instances.map((instance) => ({ instance, text: rowOf(instance, options) }))
  rows.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  const title = line('pmcd Host', kind.heading, 'Class', 'PID', 'State')
  let text = `${title}${isVerbose ? ' Instance Id' : ''}\n`
  for (const { instance, text: row } of rows) {
    text += `${row}${isVerbose ? ` ${identity(instance, kind)}` : ''}\n`
    const isDead = !instance.isStopped && running.find(instance.path, instance.isPrimary) === undefined
    if (isVerbose && isDead) text += notes(kind.logOf(instance.path))
  }
  return text
}

function rowOf(instance: FarmInstance, { kind, running, primaryState }: StatusOptions): string {
  const { host, path, isPrimary, isStopped, className } = instance
  const daemon = running.find(path, isPrimary)
  const state = (): string => {
    if (daemon !== undefined) return 'running'
    if (isStopped) return `stopped by ${kind.command}`
    return (isPrimary ? primaryState() : undefined) ?? 'dead'
  }
  const columns = daemon?.columns ?? unknownColumns(kind)
  return line(host, columns, className, `${daemon?.pid ?? '?'}`, state())
}

function line(host: string, columns: string, className: string, pid: string, state: string): string {
  return `${host.padEnd(20)} ${columns} ${className.padEnd(8)} ${pid.padStart(7)} ${state.padEnd(8)}`
}

function identity({ path }: FarmInstance, { dirOf }: FarmKind): string {
  return basename(dirOf(path))
}

function notes(path: string): string {
  const lines = lastLines(path)
  if (lines === undefined) return `   + ${basename(path)} not available\n`
  return lines.map((each) => `   + ${each}\n`).join('')
}

function lastLines(path: string): string[] | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    return undefined // not readable by this user
  }
  const text = decodeText(bytes.subarray(-LOG_BYTES))
  return text
    .split('\n')
    .filter((each) => each.trim() !== '' && !GROUP_LINE.test(each))
    .slice(-LOG_LINES)
}
