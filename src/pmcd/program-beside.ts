/** Locates the programs that the build puts beside the collector's own. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the path of a program beside the current one. */
export function programBeside(name: string): string {
  return join(dirname(ownPath()), name)
}

/** Returns the path of the current program. */
export function ownPath(): string {
  const here = import.meta.url // a path where this is bundled as CommonJS
  return here.startsWith('file:') ? fileURLToPath(here) : here
}
