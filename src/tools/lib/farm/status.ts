/** The table of `status`: every instance, and what has become of it. pmlogctl(1) */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { decodeText } from '../../../base/text.ts'
import type { FarmInstance } from './farm-files.ts'
import { type FarmKind, type Running, unknownColumns } from './kinds.ts'

/** What the table is made of. */
export interface StatusOptions {
  readonly kind: FarmKind
  readonly running: Running
  /** With identifiers and what dead ones wrote last. */
  readonly isVerbose: boolean
  /** Why a primary instance does not run, where a service manager knows. */
  readonly primaryState: () => string | undefined
}

/** Lines of a log shown for a dead instance. */
const LOG_LINES = 10
/** What a recorder says of its groups of metrics (-r) is no reason for anything. */
const GROUP_LINE = /^\t|^Group \[|^\} logged|^preprocessor cmd:|^Config parsed/
/** What is read of a log's end. */
const LOG_BYTES = 8192

/** The table, sorted by host and class. */
export function statusTable(instances: readonly FarmInstance[], options: StatusOptions): string {
  const { kind, running, isVerbose } = options
  const rows = instances.map((instance) => ({ instance, text: rowOf(instance, options) }))
  rows.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  const title = line('pmcd Host', kind.heading, 'Class', 'PID', 'State')
  let text = `${title}${isVerbose ? ' Instance Id' : ''}\n`
  for (const { instance, text: row } of rows) {
    text += `${row}${isVerbose ? ` ${identity(instance, kind)}` : ''}\n`
    const isDead = !instance.isStopped && running.find(instance.place, instance.isPrimary) === undefined
    if (isVerbose && isDead) text += notes(kind.logOf(instance.place))
  }
  return text
}

function rowOf(instance: FarmInstance, { kind, running, primaryState }: StatusOptions): string {
  const { host, place, isPrimary, isStopped, className } = instance
  const daemon = running.find(place, isPrimary)
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

function identity({ place }: FarmInstance, { dirOf }: FarmKind): string {
  return basename(dirOf(place))
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
    return undefined // not for everybody's eyes
  }
  const text = decodeText(bytes.subarray(-LOG_BYTES))
  return text
    .split('\n')
    .filter((each) => each.trim() !== '' && !GROUP_LINE.test(each))
    .slice(-LOG_LINES)
}
