/** Performs actions of rules on collectors. docs/reference/pmie.md */
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { loggableMessage } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'
import type { Firing, PerformAction } from '../rules/actions.ts'
import { firingJson } from '../rules/archive-actions.ts'
import type { Reporter } from '../rules/problems.ts'
import { ctime } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'
import { type ShellCommand, shellCommand } from './shell-command.ts'
import type { StompClient } from './stomp.ts'
import { Webhooks } from './webhook.ts'

/** Environment of actions. */
export interface LiveActionsIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly zone: Zone
  readonly reporter: Reporter
  readonly write: (text: string) => void
  readonly flush: () => Promise<void>
  /** File descriptors inherited by commands. */
  readonly outputFd: number
  readonly errorFd: number
  /** The message server; undefined if no rule uses the action stomp. */
  readonly stomp: StompClient | undefined
  /** Escapes inserted text in printed lines, so that it cannot end a line. */
  readonly form?: (text: string) => string
  /** Print lines of JSON instead of text. */
  readonly isJson: boolean
  /** Insert values into shell commands without quoting, like PCP. Unsafe: an inserted value may contain commands. */
  readonly isUnquoted?: boolean
}

/** Performs actions of a process. */
export interface LiveActions {
  readonly perform: PerformAction
  /** Waits for actions in progress. */
  close(): Promise<void>
}

/** Creates the performer of actions. */
export function openLiveActions(io: LiveActionsIo): LiveActions {
  const webhooks = new Webhooks(io.reporter)
  let alarm: ChildProcess | undefined
  const stamp = (firing: Firing) => {
    const sec = Math.floor(firing.sec)
    return { sec, nsec: Math.round((firing.sec - sec) * 1e9) }
  }
  const tell = (firing: Firing): void =>
    io.write(
      io.isJson
        ? firingJson(firing, stamp(firing))
        : `${ctime(Math.floor(firing.sec), io.zone)}: ${shownMessage(firing, io)}\n`,
    )
  const perform: PerformAction = (firing) => {
    if (io.isJson && firing.action !== 'print') tell(firing)
    switch (firing.action) {
      case 'print':
        tell(firing)
        return true
      case 'shell':
        return runShell(firing, io)
      case 'syslog':
        return runCommand('logger', loggerArgs(firing), io)
      case 'alarm': {
        if (alarm !== undefined && alarm.exitCode === null && alarm.signalCode === null) return true
        alarm = openAlarm(firing, io)
        return true
      }
      case 'stomp':
        return io.stomp?.send(firing.message) ?? false
      case 'webhook':
        return webhooks.post(firing.args[0]!, firingJson(firing, stamp(firing)))
    }
  }
  return {
    perform,
    close: async () => {
      await webhooks.close()
      io.stomp?.close()
    },
  }
}

const SAFE_PATH = '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/usr/local/sbin'

/** Runs a command line and waits for its end. */
async function runShell({ message, pieces }: Firing, io: LiveActionsIo): Promise<boolean> {
  if (io.isUnquoted) return runCommand('/bin/sh', ['-c', message], io)
  let prepared: ShellCommand
  try {
    prepared = shellCommand(pieces)
  } catch (error) {
    io.reporter.log('error', PcpError.from(error).message)
    return false
  }
  const { command, variables } = prepared
  return runCommand('/bin/sh', ['-c', command], io, variables)
}

async function runCommand(
  program: string,
  args: readonly string[],
  io: LiveActionsIo,
  variables: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  await io.flush()
  return new Promise((resolve) => {
    // An empty entry in PATH means the working directory, where others may have put programs.
    const path = io.env['PATH'] ? `${io.env['PATH']}:${SAFE_PATH}` : SAFE_PATH
    const env = { ...io.env, ...variables, IFS: '\t\n', PATH: path }
    const child = start(program, args, { env, stdio: ['ignore', io.outputFd, io.errorFd] }, io.reporter)
    child?.once('error', () => resolve(false))
    child?.once('exit', (code) => resolve(code === 0))
    if (child === undefined) resolve(false)
  })
}

/** Starts a program. Reports invalid arguments (too long, or with a NUL) and returns undefined. */
function start(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  reporter: Reporter,
): ChildProcess | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const report = (error: Error): void => reporter.log('error', `${program}: ${error.message}`)
  try {
    const child = spawn(program, args, options)
    child.once('error', report)
    return child
  } catch (error) {
    report(PcpError.from(error))
    return undefined
  }
}

/** Returns the message as printed, with inserted text escaped. */
function shownMessage({ message, pieces }: Firing, { form }: LiveActionsIo): string {
  if (form === undefined) return message
  return pieces.map(({ text, isInserted }) => (isInserted ? form(text) : text)).join('')
}

/** Returns logger(1) arguments; leading -p priority and -t tag are separate arguments. */
function loggerArgs({ args, message }: Firing): string[] {
  let priority = 'notice'
  let tag = 'pcp-pmie'
  let rest = message
  for (let i = 0; i + 1 < args.length && /^-[pt]$/.test(args[i]!); i += 2) {
    if (args[i] === '-p') priority = args[i + 1]!
    else tag = args[i + 1]!
    rest = rest.slice(args[i]!.length + args[i + 1]!.length)
  }
  return [
    '-p',
    priority.includes('.') ? priority : `daemon.${priority}`,
    '-t',
    tag,
    '--',
    loggableMessage(rest),
  ]
}

/** Shows a message in a window until it is closed; without a program for windows, prints it. */
function openAlarm(firing: Firing, io: LiveActionsIo): ChildProcess | undefined {
  const { env, reporter, write } = io
  const program = env['PCP_XCONFIRM_PROG']
  if (program === undefined || program === '') {
    write(`alarm: ${shownMessage(firing, io)}\n`)
    return undefined
  }
  const args = ['-header', 'Performance Alarm', '-t', firing.message, '-b', 'Close', '-c']
  return start(program, args, { env, stdio: 'ignore' }, reporter)
}
