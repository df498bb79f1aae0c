/** Numbers for the instances of a metric, so that what is known about them stands in columns. */

/** So many are looked through one by one. */
const FEW = 32

/** Gives instances the numbers 0, 1, 2 ... as they turn up. */
export class InstanceSlots {
  /** Instances by number: `insts[i] === inst` saves a call where records repeat each other. */
  insts: Int32Array
  length = 0
  #numbers: Map<number, number> | undefined

  readonly #isSingular: boolean

  /** `room`: how many instances to expect. `isSingular`: all are one, as of metrics without domain, which old archives number at will. */
  constructor(room: number = 8, isSingular: boolean = false) {
    this.insts = new Int32Array(Math.max(1, room))
    this.#isSingular = isSingular
  }

  /** The number of an instance; a new one where it is new. */
  slotOf(inst: number): number {
    const known = this.#find(inst)
    if (known !== undefined) return known
    const slot = this.length++
    if (slot === this.insts.length) {
      const grown = new Int32Array(slot * 2)
      grown.set(this.insts)
      this.insts = grown
    }
    this.insts[slot] = inst
    this.#numbers?.set(inst, slot)
    return slot
  }

  #find(inst: number): number | undefined {
    if (this.#isSingular) return this.length === 0 ? undefined : 0
    if (this.length > FEW) {
      this.#numbers ??= new Map(Array.from(this.insts.subarray(0, this.length), (id, slot) => [id, slot]))
      return this.#numbers.get(inst)
    }
    const slot = this.insts.subarray(0, this.length).indexOf(inst)
    return slot < 0 ? undefined : slot
  }
}
