/** Instance ids of a profile, at four bytes each; a Set takes forty. */

/** Shorter lists are searched linearly. */
const SHORT = 16
/** Bytes of the object, and of an empty array. */
const OBJECT_BYTES = 60
const ARRAY_BYTES = 190

/** An immutable set of instance ids that keeps their order. */
export class InstanceSet {
  /** The empty set. */
  static readonly NONE: InstanceSet = new InstanceSet(new Int32Array(0))

  readonly #ids: Int32Array
  /** In ascending order; the same array if the given order is ascending. */
  readonly #sorted: Int32Array

  private constructor(ids: Int32Array) {
    const isSorted = ids.every((id, i) => i === 0 || ids[i - 1]! < id)
    const sorted = isSorted ? ids : ids.toSorted()
    const isUnique = isSorted || sorted.every((id, i) => i === 0 || sorted[i - 1] !== id)
    this.#ids = isUnique ? ids : Int32Array.from(new Set(ids))
    this.#sorted = isUnique ? sorted : this.#ids.toSorted()
  }

  /** Returns a set backed by `ids`, which must not be modified afterwards. */
  static over(ids: Int32Array): InstanceSet {
    return ids.length === 0 ? InstanceSet.NONE : new InstanceSet(ids)
  }

  /** Returns a set of ids without numbers that are not 32-bit integers. */
  static of(ids: Iterable<number>): InstanceSet {
    return InstanceSet.over(Int32Array.from([...ids].filter((id) => (id | 0) === id)))
  }

  get size(): number {
    return this.#ids.length
  }

  /** Approximate memory use in bytes. */
  get bytes(): number {
    if (this.#ids.length === 0) return 0
    const arrays = this.#sorted === this.#ids ? 1 : 2
    return OBJECT_BYTES + arrays * (ARRAY_BYTES + this.#ids.byteLength)
  }

  /** Returns whether an instance is in the set. */
  has(inst: number): boolean {
    const sorted = this.#sorted
    if (sorted.length < SHORT) return sorted.includes(inst)
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle]! < inst) low = middle + 1
      else high = middle
    }
    return sorted[low] === inst
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#ids[Symbol.iterator]()
  }
}
