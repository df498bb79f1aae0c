/** Rendezvous hashing: which recorder records which host. A recorder that joins or leaves moves only the hosts it gains or loses. */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Returns the name with the highest score for a key; undefined without names. */
export function ownerOf(key: string, names: Iterable<string>): string | undefined {
  const keyHash = hash(key)
  let owner: string | undefined
  let best = -1
  for (const name of names) {
    const score = mix(keyHash ^ mix(hash(name)))
    // Equal scores are rare, but all recorders must choose the same one.
    if (score < best || (score === best && owner !== undefined && name > owner)) continue
    owner = name
    best = score
  }
  return owner
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function hash(text: string): number {
  let value = FNV_OFFSET
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), FNV_PRIME)
  return value >>> 0
}

/** Finalizer of MurmurHash3: every bit of the input changes half of the output. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
