/** Log files of daemons and agents: header, notices, footer. pmOpenLog(3), pmNotifyErr(3) */
import { closeSync, constants, fchownSync, lstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { loggable, loggableMessage } from '../base/printable.ts'
import type { ArchiveAccess } from './archive-access.ts'

/** How bad a notice is. */
export type LogLevel = 'info' | 'warning' | 'error'

/** Where a daemon writes. Control characters and the like in texts become their codes: others choose parts of the texts. */
export interface Log {
  /** Descriptor, for children that write to the same file. */
  readonly fd: number
  /** A notice with time, program and level: `[Fri Nov 20 09:22:51] pmcd(123) Info: text`. One line, and the stack of an error. */
  notice(level: LogLevel, text: string): void
  /** A line, or several, a newline added. None of them can look like a notice. */
  line(text: string): void
  /** Writes the footer and closes the file; idempotent. */
  close(): void
}

/** How a log is opened. */
export interface LogOptions {
  /** Without leading directories and 'pmda' is part of it: `pmcd`, `pmdasimple`. */
  readonly progname: string
  readonly host: string
  readonly clock?: () => number
  readonly pid?: number
  /** Mode and owner of the file. Default: 0644, ours. */
  readonly access?: ArchiveAccess
}

/**
 * Opens a log file; one that exists becomes `<path>.prev`. Devices are written to, and so is what a link points to that we
 * or root made. Throws Node's error when the file cannot be created, ELOOP for a link of somebody else.
 * @see pmOpenLog(3)
 */
export function openLog(path: string, options: LogOptions): Log {
  const old = lstatSync(path, { throwIfNoEntry: false })
  try {
    if (old?.isFile() === true) renameSync(path, `${path}.prev`)
  } catch {
    // a directory that allows no renaming: opening tells what matters
  }
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  // Root begins logs in directories of PCP's account: what that links there must not be overwritten.
  const isOurs = old?.isSymbolicLink() === true && (old.uid === 0 || old.uid === process.geteuid?.())
  const flags = O_WRONLY | O_CREAT | O_TRUNC | (isOurs ? 0 : O_NOFOLLOW)
  const { mode = 0o644, owner } = options.access ?? {}
  const fd = openSync(path, flags, mode)
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid)
  return logTo(fd, options, true)
}

/** A log on a descriptor that is open already, such as standard error; without header and footer, and never closed. */
export function logOnFd(fd: number, options: LogOptions): Log {
  return logTo(fd, options, false)
}

/** What a log begins with. */
export function logHeader({ progname, host, clock = Date.now }: LogOptions): string {
  return `Log for ${progname} on ${host} started ${ctime(clock())}\n\n`
}

/** What a log ends with. */
export function logFooter(ms: number): string {
  return `\nLog finished ${ctime(ms)}\n`
}

/** Lines as a log may have them: their control characters and the like are codes, and none of them looks like a notice. */
export function logLines(text: string): string {
  return loggable(text).replace(NOTICE_HEAD, ' ')
}

/** What begins a line like a notice in text that is none. */
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
      // a full disk or a closed terminal must not take the daemon down, and there is nowhere left to say so
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

/** `Fri Nov 20 09:22:49 2026` in the process's own zone, without newline. @see pmCtime(3) */
export function ctime(ms: number): string {
  const date = new Date(ms)
  const text = date.toString() // Fri Nov 20 2026 09:22:49 GMT+0100 (...): fixed columns by the language's standard
  return `${text.slice(0, 8)}${String(date.getDate()).padStart(2)} ${text.slice(16, 24)} ${text.slice(11, 15)}`
}
