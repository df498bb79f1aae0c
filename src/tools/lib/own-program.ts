/** Programs of this package, which need not be on the PATH: npm installs `pcp-ts` alone. */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns the directory of this package's commands: that of the running one, also if it was run through a link. */
export function ownBinDir(program: string = process.argv[1]!): string {
  return dirname(realpathSync(program))
}

/** Returns the path of a command of this package. */
export function ownProgram(name: string): string {
  return join(ownBinDir(), name)
}

/** Returns whether this process is the single executable, whose programs are unpacked into a cache that may be emptied. */
export function isSingleExecutable(): boolean {
  return process.getBuiltinModule('node:sea').isSea()
}
