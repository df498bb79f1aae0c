/** Instances of one process within a domain shared by all processes. docs/how-to/instrument-node.md */
import type { Instances, MmvWriter } from '../mmv/index.ts'

/** PIDs and thread IDs are below 2^22. */
const THREAD_BITS = 22
/** Number of instances per process that fit an instance identifier; the last is `other`. */
const LAST = 2 ** (31 - THREAD_BITS) - 1

/** The measured process or thread. */
export interface MeasuredThread {
  /** Its thread ID: the PID for the main thread. */
  readonly tid: number
  /** Name of its instance. */
  readonly instance: string
}

/** Instances of a process, named PID::PART. */
export class ProcessInstances {
  readonly instances: Instances
  readonly #self: MeasuredThread
  readonly #most: number
  readonly #parts = new Map<string, { readonly name: string; readonly number: number }>()
  readonly #free: number[] = []
  #next = 0

  /** At most `most` instances (up to 511); further ones are `other`. */
  constructor(
    writer: MmvWriter,
    self: MeasuredThread,
    domain: { readonly serial: number; readonly help: string },
    most: number = LAST,
  ) {
    this.instances = writer.instances(domain)
    this.#self = self
    this.#most = Math.min(most, LAST)
  }

  /** Returns the instance of a part, adding it if needed. */
  of(part: string): string {
    const known = this.#parts.get(part)
    if (known !== undefined) return known.name
    const number = this.#parts.size < this.#most ? (this.#free.shift() ?? this.#next++) : LAST
    return number === LAST ? this.#add('other', LAST) : this.#add(part, number)
  }

  /** Removes a part; its identifier may be reused. */
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

/** Returns an instance identifier, unique across processes. */
export function instanceNumber({ tid }: MeasuredThread, number = 0): number {
  return number * 2 ** THREAD_BITS + (tid % 2 ** THREAD_BITS)
}
