/** Which instances a report shows. pmrep(1) -i */
import { PcpError } from '../../../model/errors.ts'

/** Chooses instances by name. */
export class InstanceFilter {
  readonly #items: readonly string[]
  readonly #patterns: readonly RegExp[]

  /** PM_ERR_GENERIC with the line to print for a pattern that is none. */
  constructor(items: readonly string[]) {
    this.#items = items
    this.#patterns = items.map((item) => {
      try {
        // A bracket right behind an opening one belongs to the class, as in Python.
        return new RegExp(`^(?:${item.replaceAll(/\[(\^?)\]/g, '[$1\\]')})$`, 's')
      } catch (error) {
        const why = (error as Error).message.replace(/^.*: /s, '')
        throw new PcpError('PM_ERR_GENERIC', `Invalid regex '${item}': ${why}.`, { cause: error })
      }
    })
  }

  /** Does it let everything pass? */
  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** Positions of the names that are chosen, in the order of what chose them. */
  choose(names: readonly string[]): number[] {
    const chosen = new Set<number>()
    for (const [i, item] of this.#items.entries()) {
      const found = byNumber(item, names) ?? byCommand(item, names)
      if (found !== undefined) chosen.add(found)
      else for (const [k, name] of names.entries()) if (this.#patterns[i]!.test(name)) chosen.add(k)
    }
    return [...chosen]
  }
}

/** `1` is the process `000001 /sbin/init`. */
function byNumber(item: string, names: readonly string[]): number | undefined {
  if (!/^\d+$/.test(item)) return undefined
  const number = Number(item)
  const at = names.findIndex((name) => {
    const word = name.split(' ', 1)[0]!
    return /^\d+$/.test(word) && Number(word) === number
  })
  return at < 0 ? undefined : at
}

/** `init` is the process `000001 /sbin/init`. */
function byCommand(item: string, names: readonly string[]): number | undefined {
  if (!/^[A-Za-z0-9._-]+$/.test(item)) return undefined
  const at = names.findIndex((name) => {
    const [pid = '', command] = name.split(' ')
    if (command === undefined || !/^\d+$/.test(pid)) return false
    const base = command.slice(command.lastIndexOf('/') + 1)
    return (
      base
        .replace(/^-/, '')
        .replace(/:$/, '')
        .replace(/^\((.*)\)$/, '$1') === item
    )
  })
  return at < 0 ? undefined : at
}
