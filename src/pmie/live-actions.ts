/** Actions on collectors: they are taken. docs/pmie.md */
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { loggableMessage } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'
import { ctime } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'
import type { Firing, Perform } from './actions.ts'
import { firingJson } from './archive-actions.ts'
import type { Voice } from './problems.ts'
import { type ShellCommand, shellCommand } from './shell-command.ts'
import type { StompClient } from './stomp.ts'
import { Webhooks } from './webhook.ts'

/** What actions touch. */
export interface LiveActionsIo {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly zone: Zone
  readonly voice: Voice
  readonly write: (text: string) => void
  readonly flush: () => Promise<void>
  /** Descriptors that commands inherit for their output. */
  readonly outputFd: number
  readonly errorFd: number
  /** The message server; undefined where no rule has the action stomp. */
  readonly stomp: StompClient | undefined
  /** The form of inserted text in lines that are written, which it must not end. */
  readonly form?: (text: string) => string
  /** Lines of JSON in place of text. */
  readonly isJson: boolean
  /** Hands messages to the shell as they are, as PCP does: what is inserted may be commands. */
  readonly isUnquoted?: boolean
}

/** The actions of a process. */
export interface LiveActions {
  readonly perform: Perform
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** Prepares to take actions. */
export function openLiveActions(io: LiveActionsIo): LiveActions {
  const webhooks = new Webhooks(io.voice)
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
  const perform: Perform = (firing) => {
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

/** Runs a command line, and waits for it. */
async function runShell({ message, pieces }: Firing, io: LiveActionsIo): Promise<boolean> {
  if (io.isUnquoted) return runCommand('/bin/sh', ['-c', message], io)
  let prepared: ShellCommand
  try {
    prepared = shellCommand(pieces)
  } catch (error) {
    io.voice.notice('error', PcpError.from(error).message)
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
    // An empty entry would be the working directory, where others may leave programs.
    const path = io.env['PATH'] ? `${io.env['PATH']}:${SAFE_PATH}` : SAFE_PATH
    const env = { ...io.env, ...variables, IFS: '\t\n', PATH: path }
    const child = start(program, args, { env, stdio: ['ignore', io.outputFd, io.errorFd] }, io.voice)
    child?.once('error', () => resolve(false))
    child?.once('exit', (code) => resolve(code === 0))
    if (child === undefined) resolve(false)
  })
}

/** Starts a program; undefined, and reported, for arguments that no program can have: too long, or with a NUL. */
function start(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  voice: Voice,
): ChildProcess | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const report = (error: Error): void => voice.notice('error', `${program}: ${error.message}`)
  try {
    const child = spawn(program, args, options)
    child.once('error', report)
    return child
  } catch (error) {
    report(PcpError.from(error))
    return undefined
  }
}

/** The message as it is written: what others put into it is part of the line. */
function shownMessage({ message, pieces }: Firing, { form }: LiveActionsIo): string {
  if (form === undefined) return message
  return pieces.map(({ text, isInserted }) => (isInserted ? form(text) : text)).join('')
}

/** Options come first, each in an argument of its own: -p priority, -t tag. */
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

/** Shows a message until somebody closes it; without a program that does, it is written. */
function openAlarm(firing: Firing, io: LiveActionsIo): ChildProcess | undefined {
  const { env, voice, write } = io
  const program = env['PCP_XCONFIRM_PROG']
  if (program === undefined || program === '') {
    write(`alarm: ${shownMessage(firing, io)}\n`)
    return undefined
  }
  const args = ['-header', 'Performance Alarm', '-t', firing.message, '-b', 'Close', '-c']
  return start(program, args, { env, stdio: 'ignore' }, voice)
}
