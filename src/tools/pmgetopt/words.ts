/** Parses a script's arguments into shell words. pmgetopt(1) */
import type { Option } from '../lib/options.ts'

/** Replaces an invalid argument, so that the script shows its usage text. */
const USAGE = '-?'

/**
 * Returns a script's arguments as shell words: options by their letter if they have one, quoted option arguments, then `--` and the
 * operands. Options end at the first operand.
 */
export function shellWords(options: readonly Option[], args: readonly string[]): string[] {
  const words: string[] = []
  let next = 0
  const add = (option: Option | undefined, value: string | undefined): void => {
    if (option === undefined) words.push(USAGE)
    else if (option.arg === undefined) words.push(value === undefined ? nameOf(option) : USAGE)
    else {
      const arg = value ?? args[next++]
      if (arg === undefined) words.push(USAGE)
      else words.push(nameOf(option), quoted(arg))
    }
  }
  while (next < args.length) {
    const arg = args[next]!
    if (arg === '-' || !arg.startsWith('-')) break
    next++
    if (arg === '--') break
    if (arg.startsWith('--')) {
      const equals = arg.indexOf('=')
      const name = arg.slice(2, equals < 0 ? undefined : equals)
      add(findLong(options, name), equals < 0 ? undefined : arg.slice(equals + 1))
      continue
    }
    for (let i = 1; i < arg.length; i++) {
      const option = options.find(({ short }) => short === arg[i])
      const hasRest = option?.arg !== undefined && i + 1 < arg.length
      add(option, hasRest ? arg.slice(i + 1) : undefined)
      if (hasRest) break
    }
  }
  const operands = args.slice(next)
  return operands.length === 0 ? words : [...words, '--', ...operands.map(quoted)]
}

function nameOf({ short, long }: Option): string {
  return short === undefined ? `--${long}` : `-${short}`
}

/** Finds the option with this long name, or the only one with this prefix. */
function findLong(options: readonly Option[], name: string): Option | undefined {
  const found = options.filter(({ long }) => long?.startsWith(name))
  return found.find(({ long }) => long === name) ?? (found.length === 1 ? found[0] : undefined)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
