/** Decompresses archive files in the browser. */
import { decoderFor } from '../../base/decode/decoder.ts'
import {
  contentLimit,
  contentTooLargeError,
  DECODE_LIMITS,
  type DecodeLimits,
} from '../../base/decode/limits.ts'

/** Limits; a page cannot hold more than 1 GiB. */
export const PAGE_LIMITS: DecodeLimits = { ...DECODE_LIMITS, maxBytes: 1 << 30, maxMs: 60_000 }

/** Returns the content of a file and its name without the compression suffix. Throws an Error if it cannot be decompressed. */
export async function decompressed(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  limits: DecodeLimits = PAGE_LIMITS,
): Promise<readonly [string, Uint8Array]> {
  const suffix = /\.(xz|lzma|gz|bz2|zst|Z)$/.exec(name)?.[0]
  if (suffix === undefined) return [name, bytes]
  try {
    const content = suffix === '.gz' ? await gunzip(bytes, limits) : decode(suffix, bytes, limits)
    return [name.slice(0, -suffix.length), content]
  } catch (error) {
    throw new Error(`${name} cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Returns the contents of files by name without suffix. One is decompressed after the other, so that no more than `mostBytes` are in memory
 * together. Throws an Error with a message for the user.
 */
export async function decompressedAll(
  files: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[],
  mostBytes: number,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>()
  let room = mostBytes
  for (const [name, bytes] of files) {
    const limits = { ...PAGE_LIMITS, maxBytes: Math.min(room, PAGE_LIMITS.maxBytes) }
    const [plain, content] = await decompressed(name, bytes, limits).catch((error: Error) => {
      if (!isTooLarge(error.cause) || contentLimit(limits, bytes.length) < room) throw error
      throw new Error(`${subjectOf(files.map(([each]) => each))} too large for a page to decompress`, {
        cause: error,
      })
    })
    room -= content.length
    contents.set(plain, content)
  }
  return contents
}

/** Returns the beginning of a sentence about files: `a is`, `a and 2 more files are`. */
export function subjectOf([first, ...rest]: readonly string[]): string {
  return rest.length === 0
    ? `${first} is`
    : `${first} and ${rest.length} more file${rest.length === 1 ? '' : 's'} are`
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EFBIG'

async function gunzip(bytes: Uint8Array<ArrayBuffer>, limits: DecodeLimits): Promise<Uint8Array> {
  const limit = contentLimit(limits, bytes.length)
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const parts: Uint8Array[] = []
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length
    if (size > limit) {
      await reader.cancel()
      throw contentTooLargeError(limit, bytes.length)
    }
    parts.push(next.value)
  }
  return joined(parts, size)
}

function decode(suffix: string, bytes: Uint8Array, limits: DecodeLimits): Uint8Array {
  const parts: Uint8Array[] = []
  let size = 0
  let isRead = false
  decoderFor(suffix, limits, bytes.length)!(
    () => {
      const all = isRead ? new Uint8Array(0) : bytes
      isRead = true
      return all
    },
    (part) => {
      size += part.length
      parts.push(part.slice())
    },
  )
  return joined(parts, size)
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
