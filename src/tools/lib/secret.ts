/** Reads passwords without echo. */
import { decodeText } from '../../base/text.ts'
import type { ToolIo } from './tool.ts'

/**
 * Prompts and reads a line without echo, or the next line if standard input is not a terminal. Resolves to undefined at the end of
 * input and on an interrupt.
 */
export async function readSecret(
  io: ToolIo,
  prompt: string,
  lines: SecretLines,
): Promise<string | undefined> {
  const terminal = process.stdin.isTTY === true ? process.stdin : undefined
  if (terminal === undefined) return lines.next()
  terminal.setRawMode(true) // before the prompt, as input may follow immediately
  io.stderr.write(prompt)
  try {
    return await lines.next()
  } finally {
    terminal.setRawMode(false)
    io.stderr.write('\n')
  }
}

const NEWLINE = 0x0a
const RETURN = 0x0d
const BACKSPACES = [0x7f, 0x08]
const INTERRUPT = 0x03
const END_OF_INPUT = 0x04

/** Reads lines of an input that can be a terminal in raw mode, which handles no keys itself. */
export class SecretLines {
  readonly #chunks: AsyncIterator<Uint8Array>
  #typed: Uint8Array = new Uint8Array(0)

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#chunks = input[Symbol.asyncIterator]()
  }

  /** Returns the next line, without its end; undefined at the end of input. */
  async next(): Promise<string | undefined> {
    const line: number[] = [] // bytes, because a chunk may end inside a character
    const text = (): string => decodeText(Uint8Array.from(line))
    for (;;) {
      for (const key of this.#typed) {
        this.#typed = this.#typed.subarray(1)
        if (key === NEWLINE || key === RETURN) return text()
        if (key === INTERRUPT || (key === END_OF_INPUT && line.length === 0)) return undefined
        if (BACKSPACES.includes(key)) removeLast(line)
        else line.push(key)
      }
      const { value, done } = await this.#chunks.next()
      if (done === true) return line.length === 0 ? undefined : text()
      this.#typed = value
    }
  }
}

/** Removes the last UTF-8 character. */
function removeLast(line: number[]): void {
  while (((line.at(-1) ?? 0) & 0xc0) === 0x80) line.pop()
  line.pop()
}
