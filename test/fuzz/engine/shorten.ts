/** Shortens an input while a condition stays true. */

/** Removes ranges, long ones first, while `isGood` holds; `isGood` is called at most `tries` times. */
export async function shortened(
  input: Uint8Array,
  isGood: (candidate: Uint8Array) => Promise<boolean>,
  tries: number,
): Promise<Uint8Array> {
  let best = input
  for (let size = best.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < best.length; ) {
      if (tries-- <= 0) return best
      const candidate = without(best, at, size)
      if (await isGood(candidate)) best = candidate
      else at += size
    }
  }
  return best
}

function without(input: Uint8Array, at: number, size: number): Uint8Array {
  const rest = new Uint8Array(input.length - Math.min(size, input.length - at))
  rest.set(input.subarray(0, at))
  rest.set(input.subarray(at + size), at)
  return rest
}
