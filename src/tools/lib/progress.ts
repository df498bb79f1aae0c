/** How far long work has come, for people who wait at a terminal. */
import { printable } from '../../base/printable.ts'
import type { ToolIo } from './tool.ts'

/** Work that is done sooner is not worth a line. */
const PATIENCE_MS = 1000
const STEP_MS = 250

/** One line on a terminal that is overwritten as work goes on; nothing anywhere else. Other messages come after `clear`. */
export class Progress {
  readonly #io: ToolIo
  readonly #total: number
  readonly #isShown: boolean
  #due: number
  #width = 0

  /** `total` is what `update` counts up to. */
  constructor(io: ToolIo, total: number) {
    this.#io = io
    this.#total = total
    this.#isShown = io.stderr.isTerminal && total > 0
    this.#due = this.#isShown ? io.now() + PATIENCE_MS : 0
  }

  /** So much is done. Cheap: the clock is all that is looked at. */
  update(done: number): void {
    if (!this.#isShown) return
    const now = this.#io.now()
    if (now < this.#due) return
    this.#due = now + STEP_MS
    const text = `${this.#io.progname}: ${Math.min(100, Math.floor((done / this.#total) * 100))} %`
    this.#width = text.length
    this.#io.stderr.writeControls(`\r${printable(text)}`)
  }

  /** Takes the line away: before other messages, and in the end. */
  clear(): void {
    if (this.#width === 0) return
    this.#io.stderr.writeControls(`\r${' '.repeat(this.#width)}\r`)
    this.#width = 0
  }
}
