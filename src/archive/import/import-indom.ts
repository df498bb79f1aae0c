/** Instance domains of an import. pmiAddInstance(3) */
import { PcpError } from '../../model/errors.ts'

/** Instances by number and by name. */
export class ImportIndom {
  /** Whether some instances are not written yet. */
  isChanged = false
  readonly #title: string
  readonly #byId = new Map<number, string>()
  /** By the part of the name that must be unique. */
  readonly #byKey = new Map<string, { readonly id: number; readonly name: string }>()
  readonly #keyOf: (name: string) => string
  #next = 0

  /** See `ImportOptions.sharesFirstWords`. */
  constructor(title: string, sharesFirstWords = false) {
    this.#title = title
    this.#keyOf = sharesFirstWords ? (name) => name : firstWord
  }

  /** Returns the numbers of all instances, in the order of `names`. */
  ids(): number[] {
    return [...this.#byId.keys()]
  }

  names(): string[] {
    return [...this.#byId.values()]
  }

  /** Returns the number of an instance by name or number; undefined if unknown. */
  find(instance: string | number): number | undefined {
    if (typeof instance === 'number') return this.#byId.has(instance) ? instance : undefined
    const found = this.#byKey.get(this.#keyOf(instance))
    return found?.name === instance ? found.id : undefined
  }

  /** As `find`. PM_ERR_INST for an unknown instance. */
  lookup(instance: string | number): number {
    const id = this.find(instance)
    if (id === undefined)
      throw new PcpError('PM_ERR_INST', `No instance ${JSON.stringify(instance)} in ${this.#title}`)
    return id
  }

  /** Adds an instance and returns its number. EEXIST for an existing number or name, EINVAL for an invalid one. */
  add(name: string, id: number = this.#freeId()): number {
    if (name === '' || !Number.isInteger(id) || id < 0 || id >= 2 ** 31)
      throw new PcpError('EINVAL', `${id} "${name}" is not a valid instance of ${this.#title}`)
    const other = this.#byKey.get(this.#keyOf(name))
    if (other !== undefined)
      throw new PcpError(
        'EEXIST',
        other.name === name
          ? `Instance "${name}" of ${this.#title} exists already`
          : `Instance "${name}" of ${this.#title} conflicts with "${other.name}": names must differ before the first blank. ` +
              'Replace the blanks, or set sharesFirstWords to keep both names',
      )
    if (this.#byId.has(id))
      throw new PcpError('EEXIST', `Instance ${id} of ${this.#title} is "${this.#byId.get(id)}" already`)
    this.#byId.set(id, name)
    this.#byKey.set(this.#keyOf(name), { id, name })
    this.isChanged = true
    return id
  }

  #freeId(): number {
    while (this.#byId.has(this.#next)) this.#next++
    return this.#next
  }
}

/** Returns a name up to and including its first blank, by which PCP's readers look up instances. */
function firstWord(name: string): string {
  const blank = name.indexOf(' ')
  return blank < 0 ? name : name.slice(0, blank + 1)
}
