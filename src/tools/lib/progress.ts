/** A progress line for long work on a terminal. */
import { printable } from '../../base/printable.ts'
import type { ToolIo } from './tool.ts'

/** Delay before the line appears. */
const PATIENCE_MS = 1000
const STEP_MS = 250

/** A line on a terminal that is overwritten; no output elsewhere. Call `clear` before other messages. */
export class Progress {
  readonly #io: ToolIo
  readonly #total: number
  readonly #isShown: boolean
  #due: number
  #width = 0

  /** `total` is the last value for `update`. */
  constructor(io: ToolIo, total: number) {
    this.#io = io
    this.#total = total
    this.#isShown = io.stderr.isTerminal && total > 0
    this.#due = this.#isShown ? io.now() + PATIENCE_MS : 0
  }

  /** Reports progress. Cheap: normally only reads the clock. */
  update(done: number): void {
    if (!this.#isShown) return
    const now = this.#io.now()
    if (now < this.#due) return
    this.#due = now + STEP_MS
    const text = `${this.#io.progname}: ${Math.min(100, Math.floor((done / this.#total) * 100))} %`
    this.#width = text.length
    this.#io.stderr.writeControls(`\r${printable(text)}`)
  }

  /** Removes the line: before other messages, and at the end. */
  clear(): void {
    if (this.#width === 0) return
    this.#io.stderr.writeControls(`\r${' '.repeat(this.#width)}\r`)
    this.#width = 0
  }
}
