/** The terminal of atop's screen: single keys, alternate screen, and restoring it afterwards. */

import { setLongTimeout } from '../../base/after.ts'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { ToolIo } from '../lib/tool.ts'
import { keysOf } from './keys.ts'
import type { ScreenSize } from './screen-text.ts'

/** A key, a resize, a signal for a sample, or the end of the wait. */
export type TerminalEvent =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'resize' | 'sample' | 'last' | 'closed' | 'time' }

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[2J'
const LEAVE = '\x1b[0m\x1b[?25h\x1b[?1049l'
const DEFAULT_SIZE: ScreenSize = { columns: 80, rows: 24 }

/** The terminal of this process. `close` or the exit of the process restores it. */
export class Terminal {
  readonly #io: ToolIo
  readonly #queue: TerminalEvent[] = []
  #wake: (() => void) | undefined
  #isOpen = true
  readonly #onData = (data: Buffer): void => {
    for (const key of keysOf(data.toString('utf8'))) this.#push({ kind: 'key', key })
  }
  readonly #onResize = (): void => this.#push({ kind: 'resize' })
  readonly #onEnd = (): void => this.#push({ kind: 'closed' })
  readonly #onSample = (): void => this.#push({ kind: 'sample' })
  readonly #onLast = (): void => this.#push({ kind: 'last' })
  /** The shell had restored the terminal while this process was stopped. */
  readonly #onContinue = (): void => {
    process.stdin.setRawMode(true)
    this.#io.stdout.writeControls(ENTER)
    this.#push({ kind: 'resize' })
  }
  readonly #onExit = (): void => {
    if (this.#isOpen) process.stdout.write(LEAVE)
  }

  constructor(io: ToolIo) {
    this.#io = io
    const { stdin, stdout } = process
    stdin.setRawMode(true)
    stdin.on('data', this.#onData)
    stdin.on('end', this.#onEnd)
    stdin.resume()
    stdout.on('resize', this.#onResize)
    process.on('SIGCONT', this.#onContinue)
    process.on('SIGUSR1', this.#onSample)
    process.on('SIGUSR2', this.#onLast)
    process.on('exit', this.#onExit)
    io.stdout.writeControls(ENTER)
  }

  get size(): ScreenSize {
    const { columns, rows } = process.stdout
    return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows }
  }

  /** Draws a `screenText`; resolves when the terminal has taken it. */
  async draw(text: string): Promise<void> {
    this.#io.stdout.writeControls(text)
    await this.#io.stdout.flush()
  }

  /** Waits for an event; `time` without any until `dueMs` of the sampling clock. Rejects with ECANCELED on an interrupt. */
  async next(dueMs: number | undefined): Promise<TerminalEvent> {
    const { signal } = this.#io
    for (;;) {
      if (signal.aborted) throw new PcpError('ECANCELED', 'Interrupted')
      const event = this.#queue.shift()
      if (event !== undefined) return event
      const left = dueMs === undefined ? undefined : dueMs - SYSTEM_CLOCK.now()
      if (left !== undefined && left <= 0) return { kind: 'time' }
      await this.#pause(left)
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { stdin, stdout } = process
    stdin.off('data', this.#onData)
    stdin.off('end', this.#onEnd)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.off('resize', this.#onResize)
    process.off('SIGCONT', this.#onContinue)
    process.off('SIGUSR1', this.#onSample)
    process.off('SIGUSR2', this.#onLast)
    process.off('exit', this.#onExit)
    this.#io.stdout.writeControls(LEAVE)
  }

  #push(event: TerminalEvent): void {
    this.#queue.push(event)
    this.#wake?.()
  }

  #pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel?.()
        unwatch()
        this.#wake = undefined
        resolve()
      }
      const cancel = ms === undefined ? undefined : setLongTimeout(ms, done)
      const unwatch = onAbort(this.#io.signal, done)
      this.#wake = done
    })
  }
}
