/** Assigns identifiers to the instances of a cache. pmdaCache(3), docs/reference/agent-toolkit.md */
import { PcpError } from '../../model/errors.ts'
import { MAX_INST } from './file.ts'
import { hashKey } from './hash.ts'

/** Most identifiers of culled instances held back; beyond that the one culled first is available again. */
const MOST_CULLED = 20_000
/** Attempts to find a free identifier for a key. */
const HASH_ATTEMPTS = 10

/** Assigns identifiers and holds back those of culled instances until `reorganize`. */
export class InstanceNumbers {
  /** New instances fill gaps instead of continuing above the highest identifier. */
  reuses = false
  /** Highest identifier for a new instance. */
  maximum: number = MAX_INST
  readonly #known: ReadonlyMap<number, unknown>
  readonly #name: string
  /** Identifiers of culled instances that have not been reused. */
  readonly #culled = new Set<number>()
  #highest = -1
  /** All identifiers below are taken. */
  #firstHole = 0

  /** `known`: current instances by identifier; `name`: how messages name the domain. */
  constructor(known: ReadonlyMap<number, unknown>, name: string) {
    this.#known = known
    this.#name = name
  }

  /** Number of identifiers held back until `reorganize`. */
  get culled(): number {
    return this.#culled.size
  }

  /** Records that an instance has this identifier. */
  take(id: number): void {
    this.#highest = Math.max(this.#highest, id)
    this.#culled.delete(id)
  }

  /** Records that the instance with this identifier was culled. */
  cull(id: number): void {
    this.#culled.add(id)
    if (this.#culled.size <= MOST_CULLED) return
    const [first] = this.#culled
    this.#culled.delete(first!)
    this.#firstHole = Math.min(this.#firstHole, first!)
  }

  /** Returns an identifier for a new instance. PM_ERR_GENERIC when none is left. */
  next(): number {
    this.reuses ||= this.#highest >= this.maximum
    if (!this.reuses) return this.#highest + 1
    while (this.#isTaken(this.#firstHole)) this.#firstHole++
    if (this.#firstHole > this.maximum)
      throw new PcpError('PM_ERR_GENERIC', `${this.#name}: all numbers up to ${this.maximum} are taken`)
    return this.#firstHole
  }

  /**
   * Returns an identifier derived from a key. That of a culled instance may be reused, as it most likely is the same one.
   * PM_ERR_GENERIC when all identifiers derived from the key are taken.
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

  /** Sets the highest identifier. PM_ERR_SIGN below 0, PM_ERR_TOOBIG below the identifier of an instance, also of a culled one. */
  resize(maximum: number): void {
    if (maximum < 0) throw new PcpError('PM_ERR_SIGN', `${this.#name}: no instances up to ${maximum}`)
    // Identifiers of culled instances count until they are available again, as in PCP.
    for (const id of [...this.#known.keys(), ...this.#culled.keys()])
      if (id > maximum)
        throw new PcpError('PM_ERR_TOOBIG', `${this.#name}: there is an instance ${id} already`)
    this.maximum = Math.min(maximum, MAX_INST)
  }

  /** Makes the identifiers of culled instances available again. */
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
