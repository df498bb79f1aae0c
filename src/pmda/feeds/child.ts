/** Follows the output of other programs, long-running or run once per reading. docs/how-to/agent-data.md */
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { onAbort } from '../../base/on-abort.ts'
import { Retry } from '../../base/retry.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { LineSplitter } from './lines.ts'

/** A program, run without a shell. */
export interface Program {
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Options of a feed from a long-running program. */
export interface ChildFeedOptions extends Program {
  /** Called for each line of standard output. */
  readonly onLine: (line: string) => void
  /** Called for each line of standard error and when the program ends. */
  readonly log: (level: 'info' | 'warning', text: string) => void
  /** Longer lines are truncated; default 65536 bytes. */
  readonly maxLineBytes?: number
}

/** Options of a program that is run once. */
export interface RunOptions {
  /** Kills the program. */
  readonly signal?: AbortSignal
  /** More output is an error (EFBIG) and kills the program; default 16 MB. */
  readonly maxBytes?: number
}

const LONGEST_LINE = 65_536
const MAX_BYTES = 16 * 1024 * 1024
/** Most standard error quoted in an error. */
const MAX_ERROR_BYTES = 500
/** Time after SIGTERM until the program is killed. */
const KILL_MS = 2000
/** A program that ran this long was working: its end resets the restart delay. */
const SETTLED_MS = 10_000

/**
 * Keeps a program running and passes on its lines. The program has no standard input. When it ends it is restarted:
 * immediately, then after 1, 2, 4... 60 seconds unless it ran for ten. `close` terminates it and kills it if needed.
 */
export class ChildFeed {
  readonly #options: ChildFeedOptions
  readonly #retry: Retry
  #child: ChildProcess | undefined
  #startedAt = 0
  #starts = 0
  #isClosed = false
  #error: PcpError | undefined = new PcpError('PM_ERR_AGAIN', 'Not started yet')

  constructor(options: ChildFeedOptions) {
    this.#options = options
    this.#retry = new Retry(() => this.start())
  }

  /** Why the program is not running: not found, or how it ended. Undefined while it runs. */
  get error(): PcpError | undefined {
    return this.#error
  }

  /** Number of starts. */
  get starts(): number {
    return this.#starts
  }

  /** Starts the program unless it is running. */
  start(): void {
    if (this.#child !== undefined || this.#isClosed) return
    const { command, log, onLine, maxLineBytes = LONGEST_LINE } = this.#options
    this.#startedAt = Date.now()
    this.#starts++
    let child: ChildProcess
    try {
      child = start(this.#options)
    } catch (error) {
      this.#failed(PcpError.from(error))
      return
    }
    this.#child = child
    this.#error = undefined
    const lines = new LineSplitter(maxLineBytes, onLine)
    const complaints = new LineSplitter(LONGEST_LINE, (line) => log('warning', `${command}: ${line}`))
    // With EMFILE, the streams are undefined and the error is emitted later.
    child.stdout?.on('data', (piece: Uint8Array) => lines.push(piece))
    child.stderr?.on('data', (piece: Uint8Array) => complaints.push(piece))
    child.once('error', (error) => this.#ended(child, PcpError.from(error)))
    child.once('close', (status, signal) => {
      lines.finish()
      complaints.finish()
      this.#ended(child, new PcpError('ECHILD', `${command} ended with ${signal ?? `status ${status}`}`))
    })
  }

  /** Terminates the program; resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#retry.close()
    const child = this.#child
    if (child === undefined) return
    await new Promise<void>((resolve) => {
      const force = setTimeout(() => end(child), KILL_MS)
      child.once('close', () => {
        clearTimeout(force)
        resolve()
      })
      child.once('error', () => resolve())
      signalAll(child, 'SIGTERM')
    })
  }

  #ended(child: ChildProcess, error: PcpError): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.#failed(error)
  }

  #failed(error: PcpError): void {
    this.#error = error
    if (this.#isClosed) return
    this.#options.log('info', error.message)
    if (Date.now() - this.#startedAt >= SETTLED_MS) this.#retry.succeeded()
    this.#retry.schedule()
  }
}

/**
 * Runs a program without standard input and resolves to its output, for a `BackgroundReading`. Rejects with ENOENT for an
 * unknown program, ECHILD and the end of its standard error for a status other than 0, EFBIG for too much output, and
 * EINTR if `signal` killed it.
 */
export async function runProgram(program: Program, options: RunOptions = {}): Promise<string> {
  let complaints = Buffer.alloc(0)
  try {
    const output = await runForOutput({ ...program, ...options }, (piece) => {
      complaints = Buffer.concat([complaints, piece]).subarray(-MAX_ERROR_BYTES)
    })
    return decodeText(output)
  } catch (error) {
    const why = decodeText(complaints).trim()
    if (!(error instanceof PcpError) || error.code !== 'ECHILD' || why === '') throw error
    throw new PcpError('ECHILD', `${error.message}: ${why}`)
  }
}

/** Returns the output of a program as `runProgram` does, as bytes. `name` is its name in errors; `onError` receives its standard error. */
export function runForOutput(
  program: Program & RunOptions & { readonly name?: string },
  onError: (piece: Uint8Array) => void,
): Promise<Uint8Array> {
  const { command, name = command, signal, maxBytes = MAX_BYTES } = program
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw new PcpError('EINTR', `${name} was not started`)
    const child = start(program)
    const pieces: Uint8Array[] = []
    let size = 0
    let failure: PcpError | undefined
    const fail = (error: PcpError): void => {
      failure ??= error
      end(child)
    }
    const stop = onAbort(signal, () => fail(new PcpError('EINTR', `${name} was ended`)))
    child.stdout?.on('data', (piece: Uint8Array) => {
      size += piece.length
      if (size > maxBytes) fail(new PcpError('EFBIG', `${name} printed more than ${maxBytes} bytes`))
      else pieces.push(piece)
    })
    child.stderr?.on('data', onError)
    child.once('error', (error) => {
      stop()
      reject(PcpError.from(error))
    })
    child.once('close', (status, killed) => {
      stop()
      if (failure !== undefined) reject(failure)
      else if (status === 0) resolve(Buffer.concat(pieces))
      else reject(new PcpError('ECHILD', `${name} ended with ${killed ?? `status ${status}`}`))
    })
  })
}

/** Kills the process group of a program and stops reading its output. */
function end(child: ChildProcess): void {
  signalAll(child, 'SIGKILL')
  child.stdout?.destroy()
  child.stderr?.destroy()
}

function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // already gone
  }
}

function start({ command, args = [], cwd, env }: Program): ChildProcess {
  const options: SpawnOptions = {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // own process group, so that its children are killed with it
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  }
  return process.getBuiltinModule('node:child_process').spawn(command, [...args], options)
}
