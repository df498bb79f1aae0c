/** Output of the administration commands: silent unless something fails, and to a log unless they only show what they would do. */
import { closeSync, constants, fchownSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { logLines } from '../../../sys/log.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import type { Output, ToolIo } from '../tool.ts'
import { chownLike } from './owner.ts'

/** A place in a control file. */
export interface ControlPosition {
  readonly file: string
  readonly line: number
}

/** Writes the messages of a command. */
export interface Reporter {
  readonly showsOnly: boolean
  readonly verbosity: number
  line(text: string): void
  /** A part of a line. */
  text(text: string): void
  /** Writes a line if -V was given at least `level` times. */
  verbose(level: number, text: string): void
  /** Shows a command that -N does not run. */
  show(command: string): void
  warning(where: ControlPosition, text: string): void
  /** A warning about a lock file; its text names the file. */
  lockWarning(where: ControlPosition, text: string): void
  error(where: ControlPosition, text: string, host: string): void
  /** Did anything fail? */
  readonly hasFailed: boolean
  /** Marks the run as failed without a message. */
  fail(): void
  close(): void
}

export interface ReporterOptions {
  readonly showsOnly: boolean
  readonly verbosity: number
  /** Undefined to write to standard output. */
  readonly logPath: string | undefined
  /** What error messages report as unchanged: `logging` or `automated performance reasoning`. */
  readonly subject: string
  /** False for pmie_check and pmlogger_check, which have no colon after their name. */
  readonly warnsWithColon: boolean
  /** True for pmlogger_daily, which names the control line also in warnings about lock files. */
  readonly locatesLockWarnings?: boolean
}

/** Opens the log, or uses standard output. If the log cannot be opened, warns and uses standard output. */
export function openReporter(io: ToolIo, options: ReporterOptions): Reporter {
  const { logPath, subject } = options
  let output: Pick<Output, 'write'> = io.stdout
  let close = (): void => {}
  let hasFailed = false
  if (logPath !== undefined) {
    try {
      const fd = beginLog(logPath)
      output = { write: (text) => void writeSync(fd, logLines(text)) }
      close = () => {
        closeSync(fd)
        // A timer's output is in the log. On a terminal the user would see nothing.
        if (hasFailed && io.stderr.isTerminal)
          io.stderr.write(`${io.progname}: something is wrong, see ${logPath}\n`)
      }
    } catch (error) {
      io.stderr.write(`${io.progname}: Warning: cannot write ${logPath}: ${PcpError.from(error).text}\n`)
    }
  }
  const { progname } = io
  const at = ({ file, line }: ControlPosition): string => `[${file}:${line}]`
  const warn = (where: ControlPosition, text: string): void => {
    output.write(`${progname}${options.warnsWithColon ? ':' : ''} ${at(where)}\nWarning: ${text}\n`)
  }
  return {
    showsOnly: options.showsOnly,
    verbosity: options.verbosity,
    get hasFailed() {
      return hasFailed
    },
    fail: () => {
      hasFailed = true
    },
    line: (text) => output.write(`${text}\n`),
    text: (text) => output.write(text),
    verbose: (level, text) => {
      if (options.verbosity >= level) output.write(`${text}\n`)
    },
    show: (command) => output.write(`+ ${command}\n`),
    warning: (where, text) => warn(where, text),
    lockWarning: (where, text) => {
      if (options.locatesLockWarnings === true) warn(where, text)
      else output.write(`${progname}: Warning: ${text}\n`)
    },
    error: (where, text, host) => {
      hasFailed = true
      output.write(`${progname}: ${at(where)}\nError: ${text}\n... ${subject} for host "${host}" unchanged\n`)
    },
    close,
  }
}

/** Renames the old log to `.prev` if the directory permits it; otherwise truncates it. */
function beginLog(path: string): number {
  makeDir(dirname(path))
  try {
    renameSync(path, `${path}.prev`)
  } catch {
    // There is no log, or another user owns it in a sticky directory. Opening the file reports real errors.
  }
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  chownLike(dirname(path), (uid, gid) => fchownSync(fd, uid, gid))
  return fd
}
