/** In which part of a cluster a key is. https://valkey.io/topics/cluster-spec/ */

/** Number of parts. */
export const SLOTS = 16_384

const CRC = crcTable()

function crcTable(): Uint16Array {
  const table = new Uint16Array(256)
  for (let i = 0; i < 256; i++) {
    let crc = i << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1
    table[i] = crc
  }
  return table
}

/** Returns the slot of a key, of which only the part in braces counts, if there is one. */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open)
  const part = close > open + 1 ? key.slice(open + 1, close) : key
  let crc = 0
  for (const byte of Buffer.from(part)) crc = ((crc << 8) & 0xffff) ^ CRC[((crc >> 8) ^ byte) & 0xff]!
  return crc % SLOTS
}
