/**
 * lzma(1), the predecessor of xz, decoded by the package js-lzma.
 *
 *     properties:8  dictionary:32  length:64 (all bits set if an end marker follows the data)  data
 */
import lzma from 'js-lzma'
import { ByteInput, ByteOutput, type Read, type Write } from './input.ts'

const HEADER = 13
/** As for xz, so that a header cannot request any amount of memory. */
const MAX_DICTIONARY = 1 << 26
/** xz rejects longer ones too: lzma has no magic number, so this helps to recognize other files. */
const MAX_LENGTH = 2 ** 38

/** Decompresses a file of lzma(1). Throws an Error for detectable damage: the format has no checksum. */
export function decodeLzma(read: Read, write: Write): void {
  const input = new ByteInput(read)
  const header = new DataView(Uint8Array.from({ length: HEADER }, () => input.byte()).buffer)
  const isMarked = header.getBigInt64(5, true) === -1n
  const length = Number(header.getBigUint64(5, true))
  if (header.getUint32(1, true) > MAX_DICTIONARY || (!isMarked && length >= MAX_LENGTH))
    throw new Error('it is not an lzma file, or needs more than 64 MB of memory')
  const output = new ByteOutput(write)
  let written = 0
  let at = 0
  const properties = { size: HEADER, readByte: () => header.getUint8(at++) }
  try {
    lzma.decompress(
      properties,
      { readByte: () => input.byte() },
      {
        writeByte(byte) {
          written++
          output.put(byte)
        },
      },
      isMarked ? -1 : length,
    )
  } catch (error) {
    // The package throws strings.
    throw typeof error === 'string' ? new Error('it is damaged', { cause: error }) : error
  }
  if (!isMarked && written !== length) throw new Error('it is shorter than its header states')
  output.flush()
}
