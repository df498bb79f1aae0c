/** Which instances a report shows. pmrep(1) -i */
import { PcpError } from '../../../model/errors.ts'

/** Selects instances by name. */
export class InstanceFilter {
  readonly #items: readonly string[]
  readonly #patterns: readonly RegExp[]

  /** Throws PM_ERR_GENERIC with the line to print for an invalid pattern. */
  constructor(items: readonly string[]) {
    this.#items = items
    this.#patterns = items.map((item) => {
      try {
        // As in Python, a closing bracket right after the opening one is part of the class.
        return new RegExp(`^(?:${item.replaceAll(/\[(\^?)\]/g, '[$1\\]')})$`, 's')
      } catch (error) {
        const why = (error as Error).message.replace(/^.*: /s, '')
        throw new PcpError('PM_ERR_GENERIC', `Invalid regex '${item}': ${why}.`, { cause: error })
      }
    })
  }

  /** Does it select all instances? */
  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** Returns positions of the selected names, in the order of the patterns; a name selected by two of them appears twice. */
  choose(names: readonly string[]): number[] {
    return this.#items.flatMap((item, i) => {
      const found = [...byNumber(item, names), ...byCommand(item, names)]
      return found.length > 0 ? found : [...names.keys()].filter((k) => this.#patterns[i]!.test(names[k]!))
    })
  }
}

/** Selects a process by its PID: `1` is `000001 /sbin/init`. */
function byNumber(item: string, names: readonly string[]): number[] {
  if (!/^\d+$/.test(item) || !isNumbered(names[0])) return []
  const number = Number(item)
  const at = names.findIndex((name) => isNumbered(name) && Number.parseInt(name, 10) === number)
  return at < 0 ? [] : [at]
}

/** Selects processes by command: `init` is every process such as `000001 /sbin/init`. */
function byCommand(item: string, names: readonly string[]): number[] {
  if (!/^[A-Za-z0-9._-]+$/.test(item) || !isNumbered(names[0]) || !names[0]!.includes(' ')) return []
  return [...names.keys()].filter((i) => {
    const command = names[i]!.split(' ')[1]
    return command !== undefined && commandName(command) === item
  })
}

function isNumbered(name: string | undefined): boolean {
  return name !== undefined && /^\d+(?: |$)/.test(name)
}

/** Returns the name in `(kworker)`, `-bash`, `sshd:` or `/sbin/init`. */
function commandName(command: string): string {
  if (command.startsWith('(')) return command.slice(1, -1)
  const path = command.replace(/^-/, '').replace(/:$/, '')
  return path.slice(path.lastIndexOf('/') + 1)
}
