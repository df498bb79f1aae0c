/** Selects the input to mutate next: every block is equally likely, which favours inputs that reach rare blocks. */
import type { Pick } from './mutate.ts'

/** How many inputs are remembered for one block. */
const INPUTS_PER_BLOCK = 32

interface Kept {
  readonly input: Uint8Array
  readonly blocks: readonly number[]
  readonly steps: number
}

/** Inputs kept in this run, and the blocks that each reaches. */
export class Schedule {
  readonly #kept: Kept[] = []
  readonly #byBlock: number[][] = []
  readonly #seen: number[] = []
  readonly #pick: Pick
  /** The input that does most work for its length. */
  #heaviest = 0

  constructor(pick: Pick) {
    this.#pick = pick
  }

  /** Number of kept inputs. */
  get size(): number {
    return this.#kept.length
  }

  /** Keeps an input. */
  add(input: Uint8Array, blocks: readonly number[], steps: number): void {
    const index = this.#kept.push({ input, blocks, steps }) - 1
    for (const block of blocks) {
      const inputs = this.#byBlock[block]
      if (inputs === undefined) {
        this.#byBlock[block] = [index]
        this.#seen.push(block)
      } else if (inputs.length < INPUTS_PER_BLOCK) inputs.push(index)
      else inputs[this.#pick(INPUTS_PER_BLOCK)] = index
    }
    const heaviest = this.#kept[this.#heaviest]!
    if (steps / (input.length + 16) > heaviest.steps / (heaviest.input.length + 16)) this.#heaviest = index
  }

  /** Returns the input to mutate next. */
  next(): Uint8Array {
    const pick = this.#pick
    if (pick(16) === 0) return this.#kept[this.#heaviest]!.input
    if (pick(8) === 0 || this.#seen.length === 0) return this.any()
    const inputs = this.#byBlock[this.#seen[pick(this.#seen.length)]!]!
    return this.#kept[inputs[pick(inputs.length)]!]!.input
  }

  /** Returns any kept input. */
  any(): Uint8Array {
    return this.#kept[this.#pick(this.#kept.length)]!.input
  }

  /** Returns inputs that together reach all blocks, short ones before long ones. */
  cover(): Uint8Array[] {
    const reached = new Set<number>()
    const sorted = [...this.#kept].sort((a, b) => a.input.length - b.input.length)
    return sorted
      .filter(({ blocks }) => {
        const before = reached.size
        for (const block of blocks) reached.add(block)
        return reached.size > before
      })
      .map(({ input }) => input)
  }
}
