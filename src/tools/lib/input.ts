/** Reads standard input. */
import { decodeText } from '../../base/text.ts'

const NEWLINE = 10

/** Reads an input to its end. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Yields lines as they arrive, without newlines; the last one need not have one. */
export async function* inputLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array(0)
  for await (const chunk of input) {
    // Multi-byte characters can be split between chunks; newlines cannot.
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield decodeText(bytes, start, end)
      start = end + 1
    }
    rest = bytes.slice(start)
  }
  if (rest.length > 0) yield decodeText(rest)
}
