/** Instance numbers of a profile: four bytes each, where a Set takes forty. */

/** Lists shorter than this are searched from the beginning. */
const SHORT = 16
/** Bytes of the object, and of an array without its contents. */
const OBJECT_BYTES = 60
const ARRAY_BYTES = 190

/** An immutable set of instance numbers in the order given. */
export class InstanceSet {
  /** The set of no instances. */
  static readonly NONE: InstanceSet = new InstanceSet(new Int32Array(0))

  readonly #ids: Int32Array
  /** In ascending order; the same array where that is the order given. */
  readonly #sorted: Int32Array

  private constructor(ids: Int32Array) {
    const isSorted = ids.every((id, i) => i === 0 || ids[i - 1]! < id)
    const sorted = isSorted ? ids : ids.toSorted()
    const isUnique = isSorted || sorted.every((id, i) => i === 0 || sorted[i - 1] !== id)
    this.#ids = isUnique ? ids : Int32Array.from(new Set(ids))
    this.#sorted = isUnique ? sorted : this.#ids.toSorted()
  }

  /** Makes a set of ids, which must not be changed any more. */
  static over(ids: Int32Array): InstanceSet {
    return ids.length === 0 ? InstanceSet.NONE : new InstanceSet(ids)
  }

  /** Makes a set of numbers; those that no instance can have are left out. */
  static of(ids: Iterable<number>): InstanceSet {
    return InstanceSet.over(Int32Array.from([...ids].filter((id) => (id | 0) === id)))
  }

  get size(): number {
    return this.#ids.length
  }

  /** Returns about how many bytes of memory it takes. */
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
