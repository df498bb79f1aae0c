/** Actions on collectors: they are taken. docs/pmie.md */
import type { ChildProcess } from 'node:child_process'
import { loggableMessage } from '../base/printable.ts'
import { ctime } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'
import type { Firing, Perform } from './actions.ts'
import { firingJson } from './archive-actions.ts'
import type { Voice } from './problems.ts'
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
  /** Lines of JSON in place of text. */
  readonly isJson: boolean
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
        : `${ctime(Math.floor(firing.sec), io.zone)}: ${firing.message}\n`,
    )
  const perform: Perform = (firing) => {
    if (io.isJson && firing.action !== 'print') tell(firing)
    switch (firing.action) {
      case 'print':
        tell(firing)
        return true
      case 'shell':
        return runShell(firing.message, io)
      case 'syslog':
        return runCommand('logger', loggerArgs(firing), io)
      case 'alarm': {
        if (alarm !== undefined && alarm.exitCode === null && alarm.signalCode === null) return true
        alarm = openAlarm(firing.message, io)
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
async function runShell(command: string, io: LiveActionsIo): Promise<boolean> {
  return runCommand('/bin/sh', ['-c', command], io)
}

async function runCommand(program: string, args: readonly string[], io: LiveActionsIo): Promise<boolean> {
  await io.flush()
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve) => {
    const env = { ...io.env, IFS: '\t\n', PATH: `${io.env['PATH'] ?? ''}:${SAFE_PATH}` }
    const child = spawn(program, args, { env, stdio: ['ignore', io.outputFd, io.errorFd] })
    child.once('error', (error) => {
      io.voice.notice('error', `${program}: ${error.message}`)
      resolve(false)
    })
    child.once('exit', (code) => resolve(code === 0))
  })
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
function openAlarm(message: string, { env, voice, write }: LiveActionsIo): ChildProcess | undefined {
  const program = env['PCP_XCONFIRM_PROG']
  if (program === undefined || program === '') {
    write(`alarm: ${message}\n`)
    return undefined
  }
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, ['-header', 'Performance Alarm', '-t', message, '-b', 'Close', '-c'], {
    env,
    stdio: 'ignore',
  })
  child.once('error', (error) => voice.notice('error', `${program}: ${error.message}`))
  return child
}
