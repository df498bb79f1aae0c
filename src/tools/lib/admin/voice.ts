/** How the administration commands speak: quiet unless something is wrong, to a log unless they only show what they would do. */
import { closeSync, constants, fchownSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { logLines } from '../../../sys/log.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import type { Output, ToolIo } from '../tool.ts'
import { chownLike } from './owner.ts'

/** Where in a control file something is. */
export interface Where {
  readonly file: string
  readonly line: number
}

/** What a command says. */
export interface Voice {
  readonly showsOnly: boolean
  readonly verbosity: number
  line(text: string): void
  /** A part of a line. */
  part(text: string): void
  /** A line for those who asked for it, once, twice or three times. */
  tell(level: number, text: string): void
  /** What would be done, with -N. */
  show(command: string): void
  warning(where: Where, text: string): void
  /** A warning about a lock file, which says itself where it is. */
  note(where: Where, text: string): void
  error(where: Where, text: string, host: string): void
  /** Did anything go wrong? */
  readonly hasFailed: boolean
  /** Marks the run as failed without a message of its own. */
  fail(): void
  close(): void
}

/** How to begin. */
export interface VoiceOptions {
  readonly showsOnly: boolean
  readonly verbosity: number
  /** Undefined when output goes to the terminal. */
  readonly logPath: string | undefined
  /** What stays as it is when something is wrong: `logging` or `automated performance reasoning`. */
  readonly subject: string
  /** pmie_check and pmlogger_check warn without a colon after their name. */
  readonly warnsWithColon: boolean
  /** pmlogger_daily tells the line of the control file also in warnings about lock files. */
  readonly notesPlace?: boolean
}

/** Opens the log, or takes standard output. A log that cannot be begun is told of, and standard output taken. */
export function openVoice(io: ToolIo, options: VoiceOptions): Voice {
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
        // Those who run it by a timer look into the log; a person would see nothing at all.
        if (hasFailed && io.stderr.isTerminal)
          io.stderr.write(`${io.progname}: something is wrong, see ${logPath}\n`)
      }
    } catch (error) {
      io.stderr.write(`${io.progname}: Warning: cannot write ${logPath}: ${PcpError.from(error).text}\n`)
    }
  }
  const { progname } = io
  const at = ({ file, line }: Where): string => `[${file}:${line}]`
  const warn = (where: Where, text: string): void => {
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
    part: (text) => output.write(text),
    tell: (level, text) => {
      if (options.verbosity >= level) output.write(`${text}\n`)
    },
    show: (command) => output.write(`+ ${command}\n`),
    warning: (where, text) => warn(where, text),
    note: (where, text) => {
      if (options.notesPlace === true) warn(where, text)
      else output.write(`${progname}: Warning: ${text}\n`)
    },
    error: (where, text, host) => {
      hasFailed = true
      output.write(`${progname}: ${at(where)}\nError: ${text}\n... ${subject} for host "${host}" unchanged\n`)
    },
    close,
  }
}

/** The old log becomes `.prev`, where the directory lets us; otherwise it is written over. */
function beginLog(path: string): number {
  makeDir(dirname(path))
  try {
    renameSync(path, `${path}.prev`)
  } catch {
    // There was none, or it is somebody's in a directory of others: opening tells what matters.
  }
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  chownLike(dirname(path), (uid, gid) => fchownSync(fd, uid, gid))
  return fd
}
