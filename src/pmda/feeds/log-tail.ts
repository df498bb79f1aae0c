/** Follows lines appended to a file, across rotation. docs/how-to/agent-data.md */

import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'
import { LineSplitter } from './lines.ts'

/** Options of a followed log. */
export interface LogTailOptions {
  readonly path: string
  /** Called for each line, in order. */
  readonly onLine: (line: string) => void
  /** Milliseconds between polls after `start`; default 1000. */
  readonly intervalMs?: number
  /** Start with the existing contents; default: with new lines. */
  readonly fromStart?: boolean
  /** Longer lines are truncated; default 65536 bytes. */
  readonly maxLineBytes?: number
}

const BLOCK = 65_536
/** Most bytes read per poll, so that a flood does not block the agent. */
const MOST_AT_ONCE = 4 * 1024 * 1024

/**
 * Follows a log. A file that is replaced by rotation is read to its end, then the new one from its start. A truncated file
 * is read from its start, a missing one is awaited. Call `poll` in `beforeFetch` or poll on a timer with `start`, and
 * call `close` at the end.
 */
export class LogTail {
  readonly #options: LogTailOptions
  readonly #lines: LineSplitter
  readonly #block = Buffer.allocUnsafe(BLOCK)
  #fd: number | undefined
  #at = 0
  /** `fromStart` applies to the first file only; replacements are read from their start. */
  #isFirst = true
  #timer: ReturnType<typeof setInterval> | undefined
  #error: PcpError | undefined

  /** Opens the file: lines appended from now on are passed on. */
  constructor(options: LogTailOptions) {
    this.#options = options
    this.#lines = new LineSplitter(options.maxLineBytes ?? BLOCK, options.onLine)
    this.#guard(() => this.#open())
  }

  /** Why the last poll failed: ENOENT while the file is missing, EACCES... Undefined if it succeeded. */
  get error(): PcpError | undefined {
    return this.#error
  }

  /** Reads appended lines, at most 4 MB. Sets `error` instead of throwing if the file cannot be read. */
  poll(): void {
    this.#guard(() => {
      if (this.#fd === undefined) this.#open()
      let left = MOST_AT_ONCE
      while (left > 0) {
        left -= this.#take(left)
        if (left <= 0 || !this.#isReplaced()) return
        this.#release()
        this.#open()
      }
    })
  }

  /** Polls on a timer that keeps no process alive. */
  start(): void {
    this.#timer ??= every(
      this.#options.intervalMs ?? 1000,
      () => this.poll(),
      (error) => {
        this.#error = PcpError.from(error)
      },
    )
    this.#timer.unref()
  }

  /** Stops polling and closes the file. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#release()
  }

  #guard(look: () => void): void {
    try {
      look()
      this.#error = undefined
    } catch (error) {
      if (!isOfFile(error)) throw error
      this.#error = PcpError.from(error)
    }
  }

  #open(): void {
    const fd = openSync(this.#options.path, 'r')
    this.#fd = fd
    this.#at = this.#isFirst && this.#options.fromStart !== true ? fstatSync(fd).size : 0
    this.#isFirst = false
  }

  #release(): void {
    if (this.#fd === undefined) return
    closeSync(this.#fd)
    this.#fd = undefined
    this.#lines.finish()
  }

  /** Reads to the end of the file, at most `most` bytes. Returns the number of bytes read. */
  #take(most: number): number {
    const fd = this.#fd!
    if (fstatSync(fd).size < this.#at) {
      this.#at = 0
      this.#lines.reset()
    }
    let taken = 0
    while (taken < most) {
      const count = readSync(fd, this.#block, 0, Math.min(BLOCK, most - taken), this.#at)
      if (count === 0) break
      this.#at += count
      taken += count
      this.#lines.push(this.#block.subarray(0, count))
    }
    return taken
  }

  /** Whether the path names a different file. While the path is missing, the old file may still grow. */
  #isReplaced(): boolean {
    const now: Stats | undefined = statSync(this.#options.path, { throwIfNoEntry: false })
    if (now === undefined) return false
    const ours = fstatSync(this.#fd!)
    return now.ino !== ours.ino || now.dev !== ours.dev
  }
}

/** Whether an error comes from a system call, not from `onLine`. */
function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
