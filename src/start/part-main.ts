/** Main program of a part of `npm start`, controlled by its supervisor. docs/decisions/supervision.md */
import { onAbort } from '../base/on-abort.ts'
import { PcpError } from '../model/errors.ts'
import type { FromPart, PartSetup, ToPart } from './parts.ts'

/** Same time limit as the supervisor's. */
const LONGEST_END_MS = 20_000

/** Environment of a part. */
export interface PartIo {
  /** Prints a line for the user. */
  readonly say: (line: string) => void
  /** Aborted to stop the part, possibly before it has started. */
  readonly signal: AbortSignal
}

/** A part that is running. */
export interface RunningPart {
  /** Report for the supervisor; plain data. */
  readonly report: unknown
  /** Stops it in order. */
  close(): Promise<void>
}

/** Runs this process as a part: `begin` starts the work with the supervisor's setup. */
export function runPart(begin: (setup: PartSetup, io: PartIo) => Promise<RunningPart>): void {
  const stop = new AbortController()
  const io: PartIo = { say: (line) => send({ type: 'say', line }), signal: stop.signal }
  let hasBegun = false
  const end = (): void => {
    if (hasBegun) stop.abort()
    else process.exit(0)
  }
  process.on('message', (message: ToPart) => {
    if (message.type === 'stop') return end()
    hasBegun = true
    void run(begin, message.setup, io)
  })
  // Without a supervisor nothing else would stop this process.
  process.on('disconnect', () => {
    setTimeout(() => process.exit(1), LONGEST_END_MS).unref()
    end()
  })
  // A terminal sends these to all its processes; the supervisor stops the parts in order.
  for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => {})
  process.on('SIGTERM', () => {
    if (process.connected) send({ type: 'terminated' })
    else end()
  })
}

async function run(
  begin: (setup: PartSetup, io: PartIo) => Promise<RunningPart>,
  setup: PartSetup,
  io: PartIo,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve()
    else onAbort(io.signal, resolve)
  })
  try {
    const part = await begin(setup, io)
    send({ type: 'started', report: part.report })
    await stopped
    await part.close()
    process.exit(0)
  } catch (error) {
    const { code, message } = PcpError.from(error)
    if (io.signal.aborted) process.exit(1)
    send({ type: 'failed', code, message }, () => process.exit(1))
  }
}

/** Ignores a missing supervisor: the end of the channel stops the part. */
function send(message: FromPart, done: () => void = () => {}): void {
  if (process.connected) process.send!(message, undefined, undefined, () => done())
  else done()
}
