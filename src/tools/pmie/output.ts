/** Outputs of pmie: standard output and error, or a log that can be reopened. */
import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { loggableMessage } from '../../base/printable.ts'
import { PcpError } from '../../model/errors.ts'
import type { Reporter } from '../../rules/problems.ts'
import { ctime, type Log, logFooter, logHeader, logLines, openLog } from '../../sys/log.ts'
import { singleLine } from '../lib/print.ts'
import { didYouMeanMetric } from '../lib/similar-metrics.ts'
import type { Output, ToolIo } from '../lib/tool.ts'

/** The output of a run. */
export interface RunOutput {
  readonly reporter: Reporter
  readonly write: (text: string) => void
  /** Escapes text from outside for a line of output. */
  readonly form: (text: string) => string
  readonly flush: () => Promise<void>
  /** File descriptors for the output of commands. */
  readonly outputFd: () => number
  readonly errorFd: () => number
  /** Reopens the log, if there is one. */
  reopen(): void
  /** Absolute path of the log; '' without one. */
  readonly logName: string
  close(): void
}

/** Prints messages on standard error. */
function voiceOn(io: ToolIo): Reporter {
  return {
    print: (line) => io.stderr.write(`${line}\n`),
    log: (level, text) => io.stderr.write(noticeLine(level, text, io.now())),
    hint: (metric, error, context) => didYouMeanMetric(metric, error, context, io),
  }
}

function noticeLine(level: string, text: string, now: number): string {
  const name = level[0]!.toUpperCase() + level.slice(1)
  return `[${ctime(now).slice(0, 19)}] pmie(${process.pid}) ${name}: ${text}\n`
}

/** Destinations of a run's output. */
export interface OutputSettings {
  /** The log for messages: a file, `-` for standard error, or undefined. */
  readonly logName: string | undefined
  /** All output goes to the log. */
  readonly isJoined: boolean
}

/** Opens the outputs of a run. Throws PcpError if the log cannot be created. */
export function openOutput({ logName, isJoined }: OutputSettings, io: ToolIo): RunOutput {
  if (logName !== undefined && logName !== '-') return fileOutput(logName, isJoined, io)
  const isFramed = logName !== undefined
  if (isFramed) io.stderr.write(logHeader({ progname: 'pmie', host: hostname(), clock: io.now }))
  return {
    reporter: voiceOn(io),
    ...reportsOn(isJoined ? io.stderr : io.stdout, isJoined ? 2 : 1),
    errorFd: () => 2,
    reopen: () => {},
    logName: '',
    close: () => {
      if (isFramed) io.stderr.write(logFooter(io.now()))
    },
  }
}

function reportsOn(out: Output, fd: number): Pick<RunOutput, 'write' | 'form' | 'flush' | 'outputFd'> {
  return {
    write: (text) => out.write(text),
    form: singleLine(out),
    flush: () => out.flush(),
    outputFd: () => fd,
  }
}

function fileOutput(name: string, isJoined: boolean, io: ToolIo): RunOutput {
  const path = resolve(io.cwd, name)
  const open = (): Log => {
    try {
      return openLog(path, { progname: 'pmie', host: hostname() })
    } catch (error) {
      const { code, text } = PcpError.from(error)
      throw new PcpError(code, `cannot create log ${path}: ${text}`, { cause: error })
    }
  }
  let log = open()
  const reportsInLog = {
    write: (text: string): void => {
      writeSync(log.fd, logLines(text))
    },
    form: loggableMessage,
    flush: async () => {},
    outputFd: () => log.fd,
  }
  return {
    reporter: { print: (line) => log.line(line), log: (level, text) => log.notice(level, text) },
    ...(isJoined ? reportsInLog : reportsOn(io.stdout, 1)),
    errorFd: () => log.fd,
    reopen: () => {
      log.close()
      log = open()
    },
    logName: path,
    close: () => log.close(),
  }
}
