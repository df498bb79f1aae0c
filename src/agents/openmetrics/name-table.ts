/** Persistent numbers of names: of sources, of a source's metrics, of instances. docs/reference/agents/openmetrics.md */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { pickleNames, unpickleNames } from './pickle.ts'

/** Longest file that is read; agents do not write longer ones. */
const MAX_FILE = 64 * 1024 * 1024

/** Names with their numbers. */
export interface InstanceList {
  readonly ids: readonly number[]
  /** Names of instances. */
  readonly names: readonly string[]
}

/** A table of names in a file compatible with PCP's agent. */
export class NameTable {
  readonly #path: string
  readonly #max: number
  readonly #numbers = new Map<string, number>()
  #hasPrefix = false
  #isChanged = false
  #listing: InstanceList | undefined

  /**
   * @param path of the file, which need not exist
   * @param max highest number a name can get
   * @param log called when the file is invalid: numbers are then assigned again
   */
  constructor(path: string, max: number, log: (text: string) => void) {
    this.#path = path
    this.#max = max
    const text = readIfPresent(path, log)
    if (text === undefined) return
    const list = unpickleNames(text)
    if (list === undefined) {
      log(`${path} is invalid: its numbers are assigned again`)
      return
    }
    for (const name of list.names) this.#numbers.set(name, this.#numbers.size)
    this.#hasPrefix = list.hasPrefix
  }

  /** Makes the number of each instance part of its name, so that names are unique up to the first space. */
  usePrefix(): void {
    if (this.#hasPrefix) return
    this.#hasPrefix = true
    this.#isChanged = true
    this.#listing = undefined
  }

  /** Returns the number of a name, assigning one if needed. PM_ERR_TOOBIG when none is left. */
  numberOf(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#numbers.size
    if (number > this.#max)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `No number is left for "${name}": ${this.#path} has ${number} names`,
      )
    this.#numbers.set(name, number)
    this.#isChanged = true
    this.#listing = undefined
    return number
  }

  /** Returns all names in order of their numbers: the same object until something changes. */
  list(): InstanceList {
    this.#listing ??= {
      ids: [...this.#numbers.values()],
      names: [...this.#numbers].map(([name, number]) => (this.#hasPrefix ? `${number} ${name}` : name)),
    }
    return this.#listing
  }

  /** Returns the name with a number, without the prefix. */
  nameOf(number: number): string | undefined {
    const name = this.list().names[number]
    return this.#hasPrefix ? name?.slice(`${number} `.length) : name
  }

  /** Writes the file if there are new names. Throws Node's error; the next call retries. */
  save(): void {
    if (!this.#isChanged) return
    makeDir(dirname(this.#path))
    replaceFile(this.#path, pickleNames({ names: [...this.#numbers.keys()], hasPrefix: this.#hasPrefix }))
    this.#isChanged = false
  }
}

function readIfPresent(path: string, log: (text: string) => void): string | undefined {
  try {
    const bytes = readFileSync(path)
    if (bytes.length <= MAX_FILE) return bytes.toString('latin1')
    log(`${path} is left alone: it has ${bytes.length} bytes`)
  } catch (error) {
    const { code, message } = PcpError.from(error)
    if (code !== 'ENOENT') log(`${path}: ${message}`)
  }
  return undefined
}
