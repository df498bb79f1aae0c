/** Reading what must not be seen: passwords. */
import { decodeText } from '../../base/text.ts'
import type { ToolIo } from './tool.ts'

/**
 * Reads a line that is typed without being shown, after a prompt; where standard input is no terminal, the next line of
 * it. Undefined at the end of input, or when the user interrupts.
 */
export async function readSecret(
  io: ToolIo,
  prompt: string,
  lines: SecretLines,
): Promise<string | undefined> {
  const terminal = process.stdin.isTTY === true ? process.stdin : undefined
  if (terminal === undefined) return lines.next()
  io.stderr.write(prompt)
  terminal.setRawMode(true)
  try {
    return await lines.next()
  } finally {
    terminal.setRawMode(false)
    io.stderr.write('\n')
  }
}

const BACKSPACES = ['\x7f', '\b']
const INTERRUPT = '\x03'
const END_OF_INPUT = '\x04'

/** Lines of an input that may be a terminal in raw mode, where nobody else looks at the keys. */
export class SecretLines {
  readonly #chunks: AsyncIterator<Uint8Array>
  #typed = ''

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#chunks = input[Symbol.asyncIterator]()
  }

  /** The next line, without its end; undefined when there is none. */
  async next(): Promise<string | undefined> {
    let line = ''
    for (;;) {
      for (const key of this.#typed) {
        this.#typed = this.#typed.slice(key.length)
        if (key === '\n' || key === '\r') return line
        if (key === INTERRUPT || (key === END_OF_INPUT && line === '')) return undefined
        if (BACKSPACES.includes(key)) line = [...line].slice(0, -1).join('')
        else line += key
      }
      const { value, done } = await this.#chunks.next()
      if (done === true) return line === '' ? undefined : line
      this.#typed = decodeText(value)
    }
  }
}
