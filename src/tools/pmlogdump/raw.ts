/** -v: a raw dump of one file, record by record. */

import { type ArchiveFiles, readBytes } from '../../base/byte-source.ts'
import { ByteText } from '../../base/byte-text.ts'
import { PcpError } from '../../model/errors.ts'
import { openProblem } from '../lib/open-error.ts'
import type { ToolIo } from '../lib/tool.ts'

const HEX = '0123456789abcdef'
/** Bytes of a length word. */
const WORD = 4
/** Bytes per line. */
const LINE = 32
/** Bytes per read. */
const PART = 64 * 1024

/** Dumps a file. Only the length words are interpreted. */
export async function dumpRawFile(path: string, files: ArchiveFiles, io: ToolIo): Promise<number> {
  const source = openFile(path, files)
  const out = new ByteText()
  const write = async (): Promise<void> => {
    io.stdout.writeBytes(out.written())
    out.clear()
    await io.stdout.flush()
  }
  out.text(`Raw dump of physical archive file "${path}" ...\n`)
  let status = 0
  try {
    for (let at = 0; status === 0 && at < source.size; ) {
      const header = wordAt(readBytes(source, at, WORD))
      if (header === undefined) break
      out.text(`Dump ... record len: ${header} @ offset: ${at}\n`)
      at += WORD
      const end = at + Math.max(0, header - 2 * WORD)
      for (let k = 0; at < Math.min(end, source.size); ) {
        const part = readBytes(source, at, Math.min(PART, end - at))
        for (const byte of part) writeByte(out, byte, k++)
        at += part.length
        await write()
      }
      if (at < end) out.text('Unexpected EOF\n')
      out.text('\n')
      const trailer = wordAt(readBytes(source, at, WORD))
      at += WORD
      if (trailer !== header) {
        out.text(trailer === undefined ? 'Unexpected EOF\n' : `Trailer botch: ${header} != ${trailer}\n`)
        status = 1
      }
    }
    await write()
  } finally {
    source.close()
  }
  return status
}

function openFile(path: string, files: ArchiveFiles): ReturnType<ArchiveFiles['open']> {
  try {
    return files.open(path)
  } catch (error) {
    const { code } = PcpError.from(error)
    throw new PcpError(code, `Cannot open "${path}": ${openProblem(error)}`, { cause: error })
  }
}

function wordAt(bytes: Uint8Array): number | undefined {
  return bytes.length < WORD
    ? undefined
    : new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getInt32(0)
}

/** Writes byte `k` of a record: a blank before each word, a new line after eight words. */
function writeByte(out: ByteText, byte: number, k: number): void {
  if (k > 0 && k % LINE === 0) out.byte(0x0a)
  if (k % WORD === 0) out.byte(0x20)
  out.byte(HEX.charCodeAt(byte >> 4))
  out.byte(HEX.charCodeAt(byte & 15))
}
