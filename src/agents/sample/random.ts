/** Reproducible random numbers, so that values can be compared with PCP's sample agent. drand48(3) */

const HALF = 0x1000000
/** The multiplier 0x5DEECE66D and the state, each as two halves of 24 bits: products stay exact in doubles. */
const HIGH = 0x5de
const LOW = 0xece66d
const INCREMENT = 11

/** The generator of lrand48(3) without a seed. */
export class Random {
  #high = 0
  #low = 0

  /** Returns an integer from 0 to `n` - 1. */
  below(n: number): number {
    const low = LOW * this.#low + INCREMENT
    const high = HIGH * this.#low + LOW * this.#high + Math.floor(low / HALF)
    this.#low = low % HALF
    this.#high = high % HALF
    return (this.#high * 128 + (this.#low >>> 17)) % n
  }
}

/** Returns the next state, 31 bits, of a congruential generator whose output is its state. */
export function nextState(state: number): number {
  return (Math.imul(1103515245, state) + 12345) & 0x7fffffff
}
