/** What commands that make archives check before they do. */
import { existsSync } from 'node:fs'
import type { ToolIo } from './tool.ts'

/** Returns whether a file of an archive is there already, at `path`, and says so in PCP's words, of its name on the command line. */
export function isTaken(path: string, name: string, io: Pick<ToolIo, 'stderr'>): boolean {
  const existing = ['index', 'meta', '0'].find((part) => existsSync(`${path}.${part}`))
  if (existing === undefined) return false
  io.stderr.write(`__pmLogNewFile: "${name}.${existing}" already exists, not over-written\n`)
  return true
}
