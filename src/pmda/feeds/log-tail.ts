/** The lines that others append to a file, also when it is rotated. docs/guide/agent-data.md */

import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'
import { LineSplitter } from './lines.ts'

/** How a log is followed. */
export interface LogTailOptions {
  readonly path: string
  /** Hears of each line, in order. */
  readonly onLine: (line: string) => void
  /** Milliseconds between two looks, when `start` was called; default 1000. */
  readonly intervalMs?: number
  /** Begin with what the file has already; default: with what comes. */
  readonly fromStart?: boolean
  /** A longer line loses its end; default 65536 bytes. */
  readonly maxLineBytes?: number
}

const BLOCK = 65_536
/** Bytes taken at one look: a flood must not keep the agent from answering. */
const MOST_AT_ONCE = 4 * 1024 * 1024

/**
 * Follows a log. A file that is replaced, as rotation does, is read to its end before the new one from its beginning; one
 * that was cut is read from its beginning; one that is not there yet is waited for. Look from `beforeFetch` (`poll`) or on
 * a timer (`start`); `close` at the end.
 */
export class LogTail {
  readonly #options: LogTailOptions
  readonly #lines: LineSplitter
  readonly #block = Buffer.allocUnsafe(BLOCK)
  #fd: number | undefined
  #at = 0
  /** The first file is begun where `fromStart` says, those that replace it at their beginning. */
  #isFirst = true
  #timer: ReturnType<typeof setInterval> | undefined
  #error: PcpError | undefined

  /** Opens the file, so that what is appended from now on counts. */
  constructor(options: LogTailOptions) {
    this.#options = options
    this.#lines = new LineSplitter(options.maxLineBytes ?? BLOCK, options.onLine)
    this.#guard(() => this.#open())
  }

  /** Why the last look failed: ENOENT while there is no file, EACCES... Undefined when it did not. */
  get error(): PcpError | undefined {
    return this.#error
  }

  /** Takes what was appended, some megabytes at most. Never throws for the file's sake: see `error`. */
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

  /** Looks now and then, on a timer that keeps no process alive. */
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

  /** Stops, and closes the file. */
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

  /** Reads to the end of the file, or `most` bytes; how many. */
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

  /** Is another file at the path? While there is none, the old one may still grow. */
  #isReplaced(): boolean {
    const now: Stats | undefined = statSync(this.#options.path, { throwIfNoEntry: false })
    if (now === undefined) return false
    const ours = fstatSync(this.#fd!)
    return now.ino !== ours.ino || now.dev !== ours.dev
  }
}

/** An error of the system, not of whoever hears of lines. */
function isOfFile(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
