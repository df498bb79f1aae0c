/** One process of a part, as seen by its supervisor. docs/decisions/supervision.md */
import { fork } from 'node:child_process'
import { loggableMessage } from '../base/printable.ts'
import { withTimeout } from '../base/within.ts'
import { type ErrorCode, PcpError, statusOf } from '../model/errors.ts'
import type { FromPart, PartSetup, ToPart } from './parts.ts'

/** A process started for a part. */
export interface PartProcess<R> {
  readonly pid: number | undefined
  /** Resolves to its report; rejects with the reason if it could not start. */
  readonly started: Promise<R>
  /** Resolves to a description, for the user, of how it ended. */
  readonly ended: Promise<string>
  /** Stops it in order, then by force. Resolves when it has ended. */
  stop(): Promise<void>
}

/** Time for a part to stop: agents have five seconds, and the last record may be delayed by a busy disk. */
const STOP_MS = 20_000
/** A service manager's SIGTERM reaches parts and supervisor in any order; a part waits this long for the supervisor. */
const ORDER_MS = 200

/** Starts `program`, which loads its code and begins work when it receives the setup. */
export function openPart<R>(
  program: string,
  setup: Promise<PartSetup>,
  say: (line: string) => void,
): PartProcess<R> {
  const child = fork(program, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  let isStopping = false
  const send = (message: ToPart): void => {
    // A process that has ended has no channel.
    if (child.connected) child.send(message, () => {})
  }
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (status, signal) =>
      resolve(signal === null ? `ended with status ${status}` : `was killed by ${signal}`),
    )
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(`cannot be run: ${PcpError.from(error).text}`)
    })
  })
  const started = new Promise<R>((resolve, reject) => {
    child.on('message', (message: FromPart) => {
      if (message.type === 'say') say(loggableMessage(message.line))
      else if (message.type === 'started') resolve(message.report as R)
      else if (message.type === 'failed') reject(new PcpError(knownCode(message.code), message.message))
      else if (!isStopping) setTimeout(() => (isStopping ? undefined : send({ type: 'stop' })), ORDER_MS)
    })
    void ended.then((how) => reject(new PcpError('ECHILD', how)))
  })
  started.catch(() => {}) // the supervisor may have stopped to wait for it
  void setup.then((made) => (isStopping ? undefined : send({ type: 'start', setup: made })))
  return {
    pid: child.pid,
    started,
    ended,
    stop: async () => {
      isStopping = true
      send({ type: 'stop' })
      if ((await withTimeout(STOP_MS, ended)) !== undefined) return
      child.kill('SIGKILL')
      await ended
    },
  }
}

function knownCode(code: string): ErrorCode {
  try {
    statusOf(code as ErrorCode)
    return code as ErrorCode
  } catch {
    return 'PM_ERR_GENERIC'
  }
}
