/** Which numbers the instances of a cache get. pmdaCache(3), docs/agents.md */
import { PcpError } from '../../model/errors.ts'
import { MAX_INST } from './file.ts'
import { hashKey } from './hash.ts'

/** Numbers of culled instances kept back; with more, the one culled first is free again. */
const MOST_CULLED = 20_000
/** Attempts to find a free number for a key. */
const HASH_ATTEMPTS = 10

/** Gives numbers out, and remembers those of culled instances until `reorganize`. */
export class InstanceNumbers {
  /** Do new instances fill holes, rather than go behind the highest number there was? */
  reuses = false
  /** The highest number a new instance may get. */
  maximum: number = MAX_INST
  readonly #known: ReadonlyMap<number, unknown>
  readonly #name: string
  /** Numbers of culled instances that nobody has had since. */
  readonly #culled = new Set<number>()
  #highest = -1
  /** All numbers below are taken. */
  #firstHole = 0

  /** `known`: the instances there are, by number; `name`: what messages call the domain. */
  constructor(known: ReadonlyMap<number, unknown>, name: string) {
    this.#known = known
    this.#name = name
  }

  /** How many numbers wait for `reorganize`. */
  get culled(): number {
    return this.#culled.size
  }

  /** An instance has this number now. */
  take(id: number): void {
    this.#highest = Math.max(this.#highest, id)
    this.#culled.delete(id)
  }

  /** The instance with this number was culled. */
  cull(id: number): void {
    this.#culled.add(id)
    if (this.#culled.size <= MOST_CULLED) return
    const [first] = this.#culled
    this.#culled.delete(first!)
    this.#firstHole = Math.min(this.#firstHole, first!)
  }

  /** A number for a new instance. PM_ERR_GENERIC when none is left. */
  next(): number {
    this.reuses ||= this.#highest >= this.maximum
    if (!this.reuses) return this.#highest + 1
    while (this.#isTaken(this.#firstHole)) this.#firstHole++
    if (this.#firstHole > this.maximum)
      throw new PcpError('PM_ERR_GENERIC', `${this.#name}: all numbers up to ${this.maximum} are taken`)
    return this.#firstHole
  }

  /**
   * The number that follows from a key: that of a culled instance may be had again, as most likely it is the same one.
   * PM_ERR_GENERIC when all that follow from it are taken.
   */
  hashed(name: string, key: Uint8Array): number {
    let hash = 0
    for (let attempt = 0; attempt < HASH_ATTEMPTS; attempt++) {
      hash = hashKey(key, hash)
      const id = hash % (this.maximum + 1)
      if (!this.#known.has(id)) return id
    }
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${this.#name}: "${name}": the ${HASH_ATTEMPTS} numbers that follow from its key are taken`,
    )
  }

  /** Sets the highest number. PM_ERR_SIGN below 0, PM_ERR_TOOBIG below a number that is taken. */
  resize(maximum: number): void {
    if (maximum < 0) throw new PcpError('PM_ERR_SIGN', `${this.#name}: no instances up to ${maximum}`)
    for (const id of this.#known.keys())
      if (id > maximum)
        throw new PcpError('PM_ERR_TOOBIG', `${this.#name}: there is an instance ${id} already`)
    this.maximum = Math.min(maximum, MAX_INST)
  }

  /** Gives the numbers of culled instances free. */
  reorganize(): void {
    this.#culled.clear()
    this.#firstHole = 0
    this.#highest = -1
    for (const id of this.#known.keys()) this.#highest = Math.max(this.#highest, id)
  }

  #isTaken(id: number): boolean {
    return this.#known.has(id) || this.#culled.has(id)
  }
}
