/** Files that this package ships in its `share` folder. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Most folders between a program, built or not, and the root of the package. */
const DEPTH = 6

/** Returns the path of a file below `share`; undefined if the program was installed without its package. */
export function shippedPath(name: string): string | undefined {
  const here = import.meta.url // a path where this is bundled as CommonJS
  let folder = dirname(here.startsWith('file:') ? fileURLToPath(here) : here)
  for (let depth = 0; depth < DEPTH; depth++) {
    const path = join(folder, 'share', name)
    if (existsSync(path)) return path
    folder = dirname(folder)
  }
  return undefined
}
