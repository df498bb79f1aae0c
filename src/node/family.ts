/** Instances that a process has of its own within a domain that all processes share. docs/guide/node.md */
import type { Instances, MmvWriter } from '../mmv/index.ts'

/** Numbers of threads of the system, and of processes, are below 2^22. */
const THREAD_BITS = 22
/** As many parts of one process as an instance's number has room for; the last is `other`. */
const LAST = 2 ** (31 - THREAD_BITS) - 1

/** The process, or the thread of it, that is measured. */
export interface Self {
  /** Its number in the system: that of the process for the main thread. */
  readonly tid: number
  /** Its instance: number and name. */
  readonly instance: string
}

/** Parts of a process: each is called PID::PART. */
export class Family {
  readonly instances: Instances
  readonly #self: Self
  readonly #most: number
  readonly #parts = new Map<string, { readonly name: string; readonly number: number }>()
  readonly #free: number[] = []
  #next = 0

  /** `most` parts are told apart, at most 511; what comes later is `other`. */
  constructor(
    writer: MmvWriter,
    self: Self,
    domain: { readonly serial: number; readonly help: string },
    most: number = LAST,
  ) {
    this.instances = writer.instances(domain)
    this.#self = self
    this.#most = Math.min(most, LAST)
  }

  /** The instance of a part, which is added where it is new. */
  of(part: string): string {
    const known = this.#parts.get(part)
    if (known !== undefined) return known.name
    const number = this.#parts.size < this.#most ? (this.#free.shift() ?? this.#next++) : LAST
    return number === LAST ? this.#add('other', LAST) : this.#add(part, number)
  }

  /** Takes a part away; one that comes later may have its number. */
  remove(part: string): void {
    const known = this.#parts.get(part)
    if (known === undefined) return
    this.#parts.delete(part)
    this.#free.push(known.number)
    this.instances.remove(known.name)
  }

  #add(part: string, number: number): string {
    const name = `${this.#self.tid}::${part}`
    if (!this.#parts.has(part)) {
      this.instances.add(name, { id: instanceNumber(this.#self, number) })
      this.#parts.set(part, { name, number })
    }
    return name
  }
}

/** Numbers of parts of processes never meet. */
export function instanceNumber({ tid }: Self, number = 0): number {
  return number * 2 ** THREAD_BITS + (tid % 2 ** THREAD_BITS)
}
