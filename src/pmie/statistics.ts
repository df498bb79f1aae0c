/**
 * The file from which pmcd's agent reads pmcd.pmie.*. A C structure in host byte order, observed with 6.0.3.
 *
 *     0     4097  name of the rule file
 *     4097  4097  name of the log
 *     8194  65    host of the default collector
 *     8260  4     expected evaluations a second, a float
 *     8264  24    rules, actions, true, false, unknown, evaluations
 *     8288  4     version of the layout
 */
import { closeSync, mkdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { EvaluationCounts } from '../rules/statement.ts'
import { openNewFile } from '../sys/new-file.ts'
import { removeStalePidFiles } from '../sys/stale-files.ts'

const LOG = 4097
const HOST = 8194
const HOST_END = 8259
const EXPECTED = 8260
const RULES = 8264
const VERSION = 8288
const SIZE = 8292
const COUNTERS = VERSION - RULES

/** Facts that stay the same while the process runs. */
export interface ProcessFacts {
  readonly rulesName: string
  readonly logName: string
  readonly host: string
  /** Number of evaluated statements, and their evaluations per second in total. */
  readonly rules: number
  readonly expectedPerSec: number
}

/** The statistics file; `close` removes it. */
export interface StatisticsFile {
  update(counts: EvaluationCounts): void
  close(): void
}

/** Creates the file of this process. On failure calls `warn` and returns a file that discards updates. */
export function openStatistics(
  tmpDir: string,
  facts: ProcessFacts,
  warn: (text: string) => void,
): StatisticsFile {
  const folder = join(tmpDir, 'pmie')
  const path = join(folder, String(process.pid))
  let fd: number
  try {
    mkdirSync(folder, { recursive: true })
    removeStalePidFiles(folder)
    fd = openNewFile(path, 0o644)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Accounts without write permission are not among the host's pmie processes; that is normal.
    if (code !== 'EACCES') warn(`pmie: warning cannot create stats file dir ${folder}: ${message}`)
    return { update: () => {}, close: () => {} }
  }
  const bytes = Buffer.alloc(SIZE)
  bytes.write(facts.rulesName.slice(0, LOG - 1), 0)
  bytes.write(facts.logName.slice(0, HOST - LOG - 1), LOG)
  bytes.write(facts.host.slice(0, HOST_END - HOST - 1), HOST)
  bytes.writeFloatLE(facts.expectedPerSec, EXPECTED)
  bytes.writeUInt32LE(facts.rules, RULES)
  bytes.writeUInt32LE(1, VERSION)
  writeSync(fd, bytes, 0, SIZE, 0)
  return {
    update: ({ actions, isTrue, isFalse, isUnknown, actual }) => {
      for (const [i, value] of [actions, isTrue, isFalse, isUnknown, actual].entries())
        bytes.writeUInt32LE(value >>> 0, RULES + 4 * (i + 1))
      writeSync(fd, bytes, RULES, COUNTERS, RULES)
    },
    close: () => {
      closeSync(fd)
      rmSync(path, { force: true })
    },
  }
}

/** Contents of a process's file. */
export interface EngineFacts {
  readonly rulesName: string
  readonly logName: string
  readonly host: string
  readonly rules: number
  /** Since the start. */
  readonly evaluations: number
}

/** Reads the file of a process; undefined if missing or incomplete. */
export function readEngine(path: string): EngineFacts | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    return undefined // the process has ended, or the file is not readable
  }
  if (bytes.length < SIZE) return undefined
  const text = (from: number, to: number): string => {
    const end = bytes.indexOf(0, from)
    return bytes.toString('utf8', from, end === -1 || end > to ? to : end)
  }
  return {
    rulesName: text(0, LOG),
    logName: text(LOG, HOST),
    host: text(HOST, HOST_END),
    rules: bytes.readUInt32LE(RULES),
    evaluations: bytes.readUInt32LE(RULES + 20),
  }
}
