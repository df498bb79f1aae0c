/** Buffered output to a file descriptor; one system call a line would be eight times slower. */
import { fstatSync, writeSync } from 'node:fs'
import { printable } from '../../base/printable.ts'
import { decodeText, encodeText } from '../../base/text.ts'
import type { Output } from './tool.ts'

/** Characters to buffer, unless the output is a terminal. */
const BLOCK = 32 * 1024
/** Linux device class of /dev/null and similar character devices, which are not terminals. */
const MEMORY_DEVICES = 1
const RETRY_MS = 5
/** Retries of an interrupted command before it drops its output: for a second. */
const MAX_TRIES = 200

/** Writes to a file descriptor without owning it. A reader that has gone is not an error; `onBroken` is called. */
export class FdOutput implements Output {
  readonly isTerminal: boolean
  readonly #fd: number
  readonly #block: number
  readonly #onBroken: () => void
  #text = ''
  #unwritten: Uint8Array | undefined
  #isEnding = false

  /** With `immediate` every text is written directly, as on a terminal. */
  constructor(fd: number, onBroken: () => void, immediate = false) {
    this.#fd = fd
    this.#onBroken = onBroken
    this.isTerminal = looksLikeTerminal(fd)
    this.#block = immediate || this.isTerminal ? 1 : BLOCK
  }

  write(text: string): void {
    this.writeControls(this.isTerminal ? printable(text) : text)
  }

  writeControls(text: string): void {
    this.#text += text
    if (this.#text.length >= this.#block) this.#tryWrite()
  }

  writeBytes(bytes: Uint8Array): void {
    if (this.isTerminal || !this.#tryWrite()) {
      this.write(decodeText(bytes)) // queue behind the text the reader has not taken yet
      return
    }
    this.#unwritten = bytes
    if (!this.#tryWrite()) this.#unwritten = this.#unwritten.slice()
  }

  async flush(): Promise<void> {
    // Another process can make a shared pipe non-blocking. A write then waits for the reader.
    let left: number | undefined
    for (let tries = 0; !this.#tryWrite(); ) {
      const size = this.#unwritten?.length
      tries = this.#isEnding && size === left ? tries + 1 : 0
      if (tries > MAX_TRIES) return this.#drop()
      left = size
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  /** Stops waiting for a stalled reader after a signal, as the parent may be waiting for this process to end. */
  abandonReader(): void {
    this.#isEnding = true
  }

  #drop(): void {
    this.#unwritten = undefined
    this.#text = ''
  }

  /** Writes as much as possible; returns false if the reader is behind. */
  #tryWrite(): boolean {
    while (this.#unwritten !== undefined || this.#text !== '') {
      if (this.#unwritten === undefined) {
        this.#unwritten = encodeText(this.#text)
        this.#text = ''
      }
      try {
        const written = writeSync(this.#fd, this.#unwritten)
        this.#unwritten = written < this.#unwritten.length ? this.#unwritten.subarray(written) : undefined
      } catch (error) {
        const code = (error as { code?: unknown }).code
        if (code === 'EAGAIN') return false
        this.#drop() // a retry would fail too, as on a full disk
        // A closed socket gives ECONNRESET; the output of a program started by Node is one.
        if (code !== 'EPIPE' && code !== 'ECONNRESET') throw error
        this.#onBroken()
      }
    }
    return true
  }
}

/** Guesses from the device number, as loading node:tty takes a millisecond. */
function looksLikeTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    return stat.isCharacterDevice() && ((stat.rdev >> 8) & 0xfff) !== MEMORY_DEVICES
  } catch {
    return false // a closed file descriptor; writing will fail
  }
}
