/** Mutants: valid PDUs with random damage. */
import { pduType } from '../../src/wire/pdu.ts'
import { PDUS } from '../../src/wire/pdus.ts'

/** Returns a whole number below a bound: see `generator`. */
export type Pick = (below: number) => number

const HEADER = 12
const decoders = new Map(PDUS.map((row) => [row.code, row.decode]))

/** Changes some bytes or fields, or the size, of a PDU; the header's length is corrected. */
export function mutate(bytes: Uint8Array, pick: Pick): Uint8Array {
  let copy = bytes.slice()
  for (let changes = 1 + pick(4); changes > 0; changes--) {
    const at = HEADER + pick(Math.max(1, copy.length - HEADER))
    switch (pick(4)) {
      case 0:
        copy[at] = pick(256)
        break
      case 1:
        copy = copy.slice(0, at)
        break
      case 2: {
        const longer = new Uint8Array(copy.length + 4 * (1 + pick(3)))
        longer.set(copy)
        copy = longer
        break
      }
      default:
        copy[at & ~3] = pick(2) === 0 ? 0xff : 0
        copy[(at & ~3) + 3] = pick(256)
    }
  }
  if (copy.length >= 4) new DataView(copy.buffer).setInt32(0, copy.length)
  return copy
}

/** Values that often expose bugs. */
const ODD_WORDS = [0, 1, -1, 2, -2, 64, 0x7fff_ffff, -0x8000_0000, 0xffff, 0x10000, 0x3fff_fc00, -12345]

/**
 * Changes one word, byte or bit of a PDU, keeping its size, so that many such mutants can be decoded; occasionally calls
 * `mutate`.
 */
export function mutateGently(bytes: Uint8Array, pick: Pick): Uint8Array {
  if (bytes.length <= HEADER || pick(4) === 0) return mutate(bytes, pick)
  const copy = bytes.slice()
  const view = new DataView(copy.buffer)
  const at = HEADER + pick(copy.length - HEADER)
  switch (pick(3)) {
    case 0:
      copy[at] = pick(256)
      break
    case 1:
      copy[at]! ^= 1 << pick(8)
      break
    default:
      if ((at & ~3) + 4 <= copy.length) view.setInt32(at & ~3, ODD_WORDS[pick(ODD_WORDS.length)]!)
  }
  return copy
}

/** Returns whether framer and decoder would accept a PDU. */
export function isDecodable(pdu: Uint8Array): boolean {
  if (pdu.length < HEADER) return false
  try {
    decoders.get(pduType(pdu))!(pdu)
    return true
  } catch {
    return false // errors are checked by wire.test.ts
  }
}
