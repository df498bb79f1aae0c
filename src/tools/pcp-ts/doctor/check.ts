/** What a check of `pcp-ts doctor` is: a question about the machine, its finding, and what to do. */
import type { InstanceStatus } from '../../../start/status.ts'
import type { Variables } from '../../../sys/config.ts'

/** Facts about this machine; replaced by a good or a broken machine in tests. */
export interface Machine {
  readonly env: Variables
  readonly platform: string
  /** `process.version`, e.g. v20.19.0 */
  readonly nodeVersion: string
  /** Name of the long-term release of Node; undefined for others. */
  readonly nodeLts: string | undefined
  /** Version of glibc; undefined with another C library. */
  readonly glibc: string | undefined
  /** User id; undefined on systems without. */
  readonly uid: number | undefined
  readonly userName: string
  readonly homeDir: string
  /** Directory of our commands. */
  readonly binDir: string
  /** Why the C library cannot be called; undefined if it can. */
  readonly nativeProblem: string | undefined
  readonly totalMemory: number
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly instances: readonly InstanceStatus[]
  /** Directories of `pcp-ts start` for this user: settings, data, logs, archives, sockets. */
  readonly stateDirs: readonly string[]
  /** Path of the collector's socket for this user. */
  readonly socketPath: string
  /** Reads a file; undefined if it is missing or unreadable. */
  readonly readText: (path: string) => string | undefined
  readonly list: (dir: string) => readonly string[]
  readonly exists: (path: string) => boolean
  readonly isWritable: (path: string) => boolean
  /** Target of a link; undefined if it is none. */
  readonly linkTarget: (path: string) => string | undefined
  /** Why other users control a path; undefined if they do not. */
  readonly distrust: (path: string) => string | undefined
  /** Free and total bytes and inodes of the disk of a path; undefined if unknown. */
  readonly disk: (path: string) => DiskSpace | undefined
  /** Tries to listen; resolves to an error code, or undefined if it works. */
  readonly listen: (port: number, host: string) => Promise<string | undefined>
  /** Connects to a unix socket; resolves to an error code, or undefined if something listens. */
  readonly probe: (path: string) => Promise<string | undefined>
  readonly lookup: (name: string) => Promise<readonly string[]>
  /** Requests a page; resolves to the status, or to the reason why there is none. */
  readonly get: (url: string) => Promise<number | string>
  /** Reads the end of the newest archive of a directory; resolves to the reason why that fails. */
  readonly archiveProblem: (path: string) => Promise<string | undefined>
}

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
  /** 0 of 0 on file systems without inodes. */
  readonly freeInodes: number
  readonly totalInodes: number
}

export type Verdict = 'ok' | 'warn' | 'fail'

/** What a check has found. */
export interface Finding {
  readonly verdict: Verdict
  /** What is so. */
  readonly text: string
  /** What to do; for all but `ok`. */
  readonly advice?: string
}

/** A row of the table of checks. */
export interface Check {
  readonly id: string
  readonly title: string
  /** Platforms on which it makes sense; absent for all. */
  readonly platforms?: readonly string[]
  readonly run: (machine: Machine) => Finding | Promise<Finding>
}

export const ok = (text: string): Finding => ({ verdict: 'ok', text })
export const warn = (text: string, advice: string): Finding => ({ verdict: 'warn', text, advice })
export const fail = (text: string, advice: string): Finding => ({ verdict: 'fail', text, advice })
