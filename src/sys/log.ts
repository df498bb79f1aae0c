/** Log files of daemons and agents: header, notices, footer. pmOpenLog(3), pmNotifyErr(3) */
import { closeSync, constants, fchownSync, lstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { loggable, loggableMessage } from '../base/printable.ts'
import type { ArchiveAccess } from './archive-access.ts'

/** Severity of a notice. */
export type LogLevel = 'info' | 'warning' | 'error'

/** A daemon's log. Control characters in texts are shown as codes, because parts of texts come from clients. */
export interface Log {
  /** File descriptor, for child processes that write to the same file. */
  readonly fd: number
  /** Writes a notice with time, program and level: `[Fri Nov 20 09:22:51] pmcd(123) Info: text`. It is one line, except for stack traces. */
  notice(level: LogLevel, text: string): void
  /** Writes one or more lines and a final newline. No line can look like a notice. */
  line(text: string): void
  /** Writes the footer and closes the file; idempotent. */
  close(): void
}

/** Options of `openLog`. */
export interface LogOptions {
  /** Without leading directories, with the 'pmda' prefix: `pmcd`, `pmdasimple`. */
  readonly progname: string
  readonly host: string
  readonly clock?: () => number
  readonly pid?: number
  /** Mode and owner of the file. Default: 0644, this process. */
  readonly access?: ArchiveAccess
}

/**
 * Opens a log file; an existing one becomes `<path>.prev`. Devices are written to, and so are targets of links that this user
 * or root created. Throws Node's error if the file cannot be created, ELOOP for other users' links.
 * @see pmOpenLog(3)
 */
export function openLog(path: string, options: LogOptions): Log {
  const old = lstatSync(path, { throwIfNoEntry: false })
  try {
    if (old?.isFile() === true) renameSync(path, `${path}.prev`)
  } catch {
    // The directory does not allow renaming; opening the file will report problems.
  }
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  // Root opens logs in directories of PCP's account: that account's links must not redirect them to other files.
  const isOurs = old?.isSymbolicLink() === true && (old.uid === 0 || old.uid === process.geteuid?.())
  const flags = O_WRONLY | O_CREAT | O_TRUNC | (isOurs ? 0 : O_NOFOLLOW)
  const { mode = 0o644, owner } = options.access ?? {}
  const fd = openSync(path, flags, mode)
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  return logTo(fd, options, true)
}

/** Returns a log on an open file descriptor, such as standard error, without header and footer. It is never closed. */
export function logOnFd(fd: number, options: LogOptions): Log {
  return logTo(fd, options, false)
}

export function logHeader({ progname, host, clock = Date.now }: LogOptions): string {
  return `Log for ${progname} on ${host} started ${ctime(clock())}\n\n`
}

export function logFooter(ms: number): string {
  return `\nLog finished ${ctime(ms)}\n`
}

/** Makes text safe as lines of a log: control characters become codes, and no line looks like a notice. */
export function logLines(text: string): string {
  return loggable(text).replace(NOTICE_HEAD, ' ')
}

/** Where text looks like the start of a notice. */
const NOTICE_HEAD = /^(?=\[[A-Z][a-z]{2} [A-Z][a-z]{2} )/gm

function logTo(fd: number, options: LogOptions, isFile: boolean): Log {
  const clock = options.clock ?? Date.now
  const pid = options.pid ?? process.pid
  let isOpen = true
  const write = (text: string): void => {
    if (!isOpen) return
    try {
      writeSync(fd, text)
    } catch {
      // A full disk or closed terminal must not stop the daemon, and there is nowhere left to report it.
    }
  }
  if (isFile) write(logHeader(options))
  return {
    fd,
    notice(level, text) {
      const name = level[0]!.toUpperCase() + level.slice(1)
      write(
        `[${ctime(clock()).slice(0, 19)}] ${options.progname}(${pid}) ${name}: ${loggableMessage(text)}\n`,
      )
    },
    line(text) {
      write(`${logLines(text)}\n`)
    },
    close() {
      if (!isFile || !isOpen) return
      write(logFooter(clock()))
      isOpen = false
      closeSync(fd)
    },
  }
}

/** Formats `Fri Nov 20 09:22:49 2026` in the time zone of the process, without newline. @see pmCtime(3) */
export function ctime(ms: number): string {
  const date = new Date(ms)
  const text = date.toString() // Fri Nov 20 2026 09:22:49 GMT+0100 (...): fixed columns according to ECMAScript
  return `${text.slice(0, 8)}${String(date.getDate()).padStart(2)} ${text.slice(16, 24)} ${text.slice(11, 15)}`
}
