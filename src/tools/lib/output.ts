/** Output of a command on a file descriptor, collected into blocks: a system call a line is eight times slower. */
import { fstatSync, writeSync } from 'node:fs'
import { printable } from '../../base/printable.ts'
import { decodeText, encodeText } from '../../base/text.ts'
import type { Output } from './tool.ts'

/** Characters collected before they are written, unless somebody watches. */
const BLOCK = 32 * 1024
/** Device class of /dev/null and its like on Linux: character devices, but no terminals. */
const MEMORY_DEVICES = 1
const RETRY_MS = 5
/** How often a command that was told to end tries in vain until it gives up on its reader: for a second. */
const MAX_TRIES = 200

/** Writes to a file descriptor it does not own. Nobody reading any more is no error here: `onBroken` decides. */
export class FdOutput implements Output {
  readonly isTerminal: boolean
  readonly #fd: number
  readonly #block: number
  readonly #onBroken: () => void
  #text = ''
  #unwritten: Uint8Array | undefined
  #isEnding = false

  /** `immediate`: every text is written at once, as on a terminal. */
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
      this.write(decodeText(bytes)) // behind what its reader has to take first
      return
    }
    this.#unwritten = bytes
    if (!this.#tryWrite()) this.#unwritten = this.#unwritten.slice()
  }

  async flush(): Promise<void> {
    // A pipe may be non-blocking because somebody else made it so; then its reader has to catch up first.
    let left: number | undefined
    for (let tries = 0; !this.#tryWrite(); ) {
      const size = this.#unwritten?.length
      tries = this.#isEnding && size === left ? tries + 1 : 0
      if (tries > MAX_TRIES) return this.#drop()
      left = size
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  /** Stops waiting for a reader that takes nothing any more: a signal asked the command to end, and its parent may wait for that. */
  hurry(): void {
    this.#isEnding = true
  }

  #drop(): void {
    this.#unwritten = undefined
    this.#text = ''
  }

  /** Writes all it can; false when the reader is behind. */
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
        this.#drop() // nor would it fit on a full disk the next time
        // The latter where the output is a socket, as that of a program which Node has started is.
        if (code !== 'EPIPE' && code !== 'ECONNRESET') throw error
        this.#onBroken()
      }
    }
    return true
  }
}

/** node:tty would know for certain, and costs a millisecond. */
function looksLikeTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    return stat.isCharacterDevice() && ((stat.rdev >> 8) & 0xfff) !== MEMORY_DEVICES
  } catch {
    return false // a closed descriptor: writing will say so
  }
}
