/** Bob Jenkins' public-domain hash 'lookup2' (1996), which maps keys to instance identifiers. docs/formats/instance-cache.md */

const GOLDEN_RATIO = 0x9e3779b9

/**
 * Hashes bytes to 32 bits, unsigned. `seed` is the hash of the previous attempt, 0 for the first. As in PCP bytes are
 * signed, which matters from 0x80 on: identifiers in saved files depend on it.
 */
export function hashKey(key: Uint8Array, seed: number): number {
  const state = Uint32Array.of(GOLDEN_RATIO, GOLDEN_RATIO, seed)
  let at = 0
  for (; key.length - at >= 12; at += 12) {
    for (let word = 0; word < 3; word++) state[word]! += wordAt(key, at + 4 * word, 4)
    mix(state)
  }
  const rest = key.length - at
  state[0]! += wordAt(key, at, Math.min(rest, 4))
  state[1]! += wordAt(key, at + 4, Math.min(rest - 4, 4))
  // The lowest byte of the third word is the length.
  state[2]! += key.length + (wordAt(key, at + 8, rest - 8) << 8)
  mix(state)
  return state[2]!
}

/** Up to four signed bytes, lowest first; 0 when `count` is not above 0. */
function wordAt(key: Uint8Array, at: number, count: number): number {
  let word = 0
  for (let i = 0; i < count; i++) word += ((key[at + i]! << 24) >> 24) << (8 * i)
  return word
}

function mix(state: Uint32Array): void {
  let [a, b, c] = state as unknown as [number, number, number]
  a = (a - b - c) ^ (c >>> 13)
  b = (b - c - a) ^ (a << 8)
  c = (c - a - b) ^ (b >>> 13)
  a = (a - b - c) ^ (c >>> 12)
  b = (b - c - a) ^ (a << 16)
  c = (c - a - b) ^ (b >>> 5)
  a = (a - b - c) ^ (c >>> 3)
  b = (b - c - a) ^ (a << 10)
  c = (c - a - b) ^ (b >>> 15)
  state[0] = a
  state[1] = b
  state[2] = c
}
