/** PDUs of every type, as clients and servers decode them. */
import { PcpError } from '../../../src/model/errors.ts'
import { Framer } from '../../../src/wire/framer.ts'
import { PDU_ERROR, pduFrom, pduType } from '../../../src/wire/pdu.ts'
import { PDUS } from '../../../src/wire/pdus.ts'
import { bytesOf, CODECS, VECTORS } from '../../wire/vectors.ts'
import { type FuzzEntry, hold } from '../engine/entry.ts'

const decoders = new Map(PDUS.map((row) => [row.code, row.decode]))
const CHUNKS = [1, 7, 64]

/** Entry of src/wire. */
export const pdu: FuzzEntry = {
  seeds: () => VECTORS.map(({ hex }) => bytesOf(hex)).filter((bytes) => bytes.length < 4000),
  mayThrow: (error) => error instanceof PcpError && error.code === 'PM_ERR_IPC',
  repair: withLength,
  run(input) {
    framedAlike(input)
    if (input.length < 12) return
    const type = pduType(input)
    const decode = decoders.get(type)
    if (decode === undefined) return
    decode(input)
    const codec = CODECS[type]
    // The codec of the vectors keeps half of a challenge's word.
    if (codec === undefined || type === PDU_ERROR) return
    let again: Uint8Array
    try {
      again = codec.again(input, pduFrom(input))
    } catch (error) {
      // Broken UTF-8 is decoded to replacement characters, so offsets into its bytes no longer match.
      if (error instanceof PcpError) return
      throw error
    }
    const twice = codec.again(again, pduFrom(again))
    hold(Buffer.compare(again, twice) === 0, 'encoding and decoding preserves the value')
  },
}

/** Sets the length in the header. */
function withLength(input: Uint8Array): Uint8Array {
  if (input.length < 4) return input
  const copy = input.slice()
  new DataView(copy.buffer).setInt32(0, copy.length)
  return copy
}

/** Holds that a stream gives the same PDUs, however it is cut into chunks. */
function framedAlike(input: Uint8Array): void {
  const whole = framed(input, input.length)
  for (const size of CHUNKS) hold(framed(input, size) === whole, 'chunks make no difference to the framer')
}

function framed(input: Uint8Array, size: number): string {
  const seen: string[] = []
  const framer = new Framer((found) => seen.push(Buffer.from(found).toString('latin1')), 65_536)
  try {
    for (let at = 0; at < input.length; at += size) framer.push(input.subarray(at, at + size))
  } catch (error) {
    if (!(error instanceof PcpError)) throw error
    seen.push(error.message)
  }
  return seen.join('\n')
}
