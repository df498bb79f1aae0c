/** Names that keep their numbers for ever: of sources, of the metrics of a source, of instances. docs/openmetrics.md */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { pickleNames, unpickleNames } from './pickle.ts'

/** A file that is longer was not written by an agent. */
const MAX_FILE = 64 * 1024 * 1024

/** Names with their numbers. */
export interface Listing {
  readonly ids: readonly number[]
  /** As instances are called. */
  readonly names: readonly string[]
}

/** A table of names in a file that PCP's agent reads and writes, too. */
export class NameTable {
  readonly #path: string
  readonly #max: number
  readonly #numbers = new Map<string, number>()
  #hasPrefix = false
  #isChanged = false
  #listing: Listing | undefined

  /**
   * @param path of the file, which need not exist
   * @param max highest number a name can get
   * @param log hears when the file cannot be understood: numbers then start anew
   */
  constructor(path: string, max: number, log: (text: string) => void) {
    this.#path = path
    this.#max = max
    const text = readIfPresent(path, log)
    if (text === undefined) return
    const list = unpickleNames(text)
    if (list === undefined) {
      log(`${path} is not understood: its numbers are given out anew`)
      return
    }
    for (const name of list.names) this.#numbers.set(name, this.#numbers.size)
    this.#hasPrefix = list.hasPrefix
  }

  /** From now on the number of each instance is part of its name, which makes names unique up to the first space. */
  usePrefix(): void {
    if (this.#hasPrefix) return
    this.#hasPrefix = true
    this.#isChanged = true
    this.#listing = undefined
  }

  /** The number of a name, a new one if need be. Throws PM_ERR_TOOBIG when all are given out. */
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

  /** All names in order of their numbers, the same object as long as nothing changed. */
  list(): Listing {
    this.#listing ??= {
      ids: [...this.#numbers.values()],
      names: [...this.#numbers].map(([name, number]) => (this.#hasPrefix ? `${number} ${name}` : name)),
    }
    return this.#listing
  }

  /** The name with a number, without that number. */
  nameOf(number: number): string | undefined {
    const name = this.list().names[number]
    return this.#hasPrefix ? name?.slice(`${number} `.length) : name
  }

  /** Writes the file when there are new names. Throws Node's error; the next call tries again. */
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
