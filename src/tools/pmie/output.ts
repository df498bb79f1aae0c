/** Where pmie's words go: standard output and error, or a log that may be begun anew. */
import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { loggableMessage } from '../../base/printable.ts'
import { PcpError } from '../../model/errors.ts'
import type { Voice } from '../../pmie/problems.ts'
import { ctime, type Log, logFooter, logHeader, logLines, openLog } from '../../sys/log.ts'
import { nearHint } from '../lib/near-metrics.ts'
import { lineForm } from '../lib/print.ts'
import type { Output, ToolIo } from '../lib/tool.ts'

/** The output of a run. */
export interface RunOutput {
  readonly voice: Voice
  readonly write: (text: string) => void
  /** The form that text of others has within a line. */
  readonly form: (text: string) => string
  readonly flush: () => Promise<void>
  /** Descriptors for the output of commands. */
  readonly outputFd: () => number
  readonly errorFd: () => number
  /** Begins the log anew; nothing without one. */
  reopen(): void
  /** Absolute name of the log; '' without one. */
  readonly logName: string
  close(): void
}

/** Messages on standard error. */
function voiceOn(io: ToolIo): Voice {
  return {
    say: (line) => io.stderr.write(`${line}\n`),
    notice: (level, text) => io.stderr.write(noticeLine(level, text, io.now())),
    hint: (metric, error, context) => nearHint(metric, error, context, io),
  }
}

function noticeLine(level: string, text: string, now: number): string {
  const name = level[0]!.toUpperCase() + level.slice(1)
  return `[${ctime(now).slice(0, 19)}] pmie(${process.pid}) ${name}: ${text}\n`
}

/** Where a run writes to. */
export interface OutputPlaces {
  /** The log for messages: a file, `-` for standard error, or none. */
  readonly logName: string | undefined
  /** Everything goes where messages go. */
  readonly isJoined: boolean
}

/** Opens the output of a run. Throws PcpError where the log cannot be made. */
export function openOutput({ logName, isJoined }: OutputPlaces, io: ToolIo): RunOutput {
  if (logName !== undefined && logName !== '-') return fileOutput(logName, isJoined, io)
  const isFramed = logName !== undefined
  if (isFramed) io.stderr.write(logHeader({ progname: 'pmie', host: hostname(), clock: io.now }))
  return {
    voice: voiceOn(io),
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
    form: lineForm(out),
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
    voice: { say: (line) => log.line(line), notice: (level, text) => log.notice(level, text) },
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
