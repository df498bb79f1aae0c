/** One execution of an entry, and the title of its failure. */
import { type FuzzEntry, isRefusal } from './entry.ts'

/** Runs an input; returns the error unless it is a regular rejection; undefined on success. */
export async function failureOf(entry: FuzzEntry, input: Uint8Array): Promise<Error | undefined> {
  try {
    // Awaiting only promises keeps synchronous entries fast.
    const pending = entry.run(input)
    if (pending !== undefined) await pending
    return undefined
  } catch (error) {
    if (isRefusal(entry, error)) return undefined
    return error instanceof Error ? error : new Error(`thrown: ${String(error)}`)
  }
}

/** Names a failure by its error and the first function of the code under test on its stack. */
export function titleOf(
  error: Error,
  moduleAt: (url: string, line: number, column: number) => unknown,
): string {
  const what = error.name === 'PropertyError' ? error.message.replace(/: .*/s, '') : error.name
  for (const line of error.stack?.split('\n') ?? []) {
    const match = /^\s+at (?:(?:async |new )*(\S+) .*?\(?)?(file:\S+?):(\d+):(\d+)\)?$/.exec(line)
    if (match === null) continue
    const module = moduleAt(match[2]!, Number(match[3]), Number(match[4]) - 1)
    if (module !== undefined) return `${what} in ${match[1] ?? 'a function'} of ${String(module)}`
  }
  return what
}
