/** The instances of a domain that an import builds up. pmiAddInstance(3) */
import { PcpError } from '../../model/errors.ts'

/** Instances by number and by name. */
export class ImportIndom {
  /** Has it instances that were not written? */
  isChanged = false
  readonly #title: string
  readonly #byId = new Map<number, string>()
  /** Readers take an instance by its name up to the first blank, so no two may be equal so far. */
  readonly #byKey = new Map<string, { readonly id: number; readonly name: string }>()
  #next = 0

  constructor(title: string) {
    this.#title = title
  }

  /** Numbers of all instances, as `names`. */
  ids(): number[] {
    return [...this.#byId.keys()]
  }

  names(): string[] {
    return [...this.#byId.values()]
  }

  /** Number of an instance by name or number; undefined when there is none. */
  find(instance: string | number): number | undefined {
    if (typeof instance === 'number') return this.#byId.has(instance) ? instance : undefined
    const found = this.#byKey.get(keyOf(instance))
    return found?.name === instance ? found.id : undefined
  }

  /** As `find`. PM_ERR_INST when there is none. */
  lookup(instance: string | number): number {
    const id = this.find(instance)
    if (id === undefined)
      throw new PcpError('PM_ERR_INST', `No instance ${JSON.stringify(instance)} in ${this.#title}`)
    return id
  }

  /** Adds an instance and returns its number. EEXIST for a number or name that is taken, EINVAL for no number or name. */
  add(name: string, id: number = this.#freeId()): number {
    if (name === '' || !Number.isInteger(id) || id < 0 || id >= 2 ** 31)
      throw new PcpError('EINVAL', `${id} "${name}" cannot be an instance of ${this.#title}`)
    const other = this.#byKey.get(keyOf(name))
    if (other !== undefined)
      throw new PcpError(
        'EEXIST',
        `Instance "${name}" of ${this.#title} is too much like "${other.name}", which is there`,
      )
    if (this.#byId.has(id))
      throw new PcpError('EEXIST', `Instance ${id} of ${this.#title} is "${this.#byId.get(id)}" already`)
    this.#byId.set(id, name)
    this.#byKey.set(keyOf(name), { id, name })
    this.isChanged = true
    return id
  }

  #freeId(): number {
    while (this.#byId.has(this.#next)) this.#next++
    return this.#next
  }
}

/** What has to differ: the name up to and with its first blank. */
function keyOf(name: string): string {
  const blank = name.indexOf(' ')
  return blank < 0 ? name : name.slice(0, blank + 1)
}
