/** What commands read from standard input. */
import { decodeText } from '../../base/text.ts'

const NEWLINE = 10

/** All of an input. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Lines as they come, without their newlines; the last one may lack it. */
export async function* inputLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array(0)
  for await (const chunk of input) {
    // Characters of several bytes may be divided between chunks, newlines are not.
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
