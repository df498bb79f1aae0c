/** Compressed files of archives, in a browser. */
import { decoderFor } from '../../base/decode/decoder.ts'

/** More than this is no archive that a page can hold. */
const MOST_BYTES = 1 << 30

/** A file's content and its name without the suffix of its compression. Error for one that cannot be decompressed. */
export async function decompressed(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<readonly [string, Uint8Array]> {
  const suffix = /\.(xz|lzma|gz|bz2|zst|Z)$/.exec(name)?.[0]
  if (suffix === undefined) return [name, bytes]
  const base = name.slice(0, -suffix.length)
  if (suffix === '.gz') {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    return [base, new Uint8Array(await new Response(stream).arrayBuffer())]
  }
  const decode = decoderFor(suffix)
  if (decode === undefined) throw new Error(`${name}: nobody here can decompress ${suffix}`)
  const parts: Uint8Array[] = []
  let size = 0
  let isRead = false
  decode(
    () => {
      const all = isRead ? new Uint8Array(0) : bytes
      isRead = true
      return all
    },
    (part) => {
      size += part.length
      if (size > MOST_BYTES) throw new Error(`${name} is larger than a page can hold`)
      parts.push(part.slice())
    },
  )
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return [base, whole]
}
