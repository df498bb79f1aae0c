/** Refuses to overwrite archives. */
import { existsSync } from 'node:fs'
import type { ToolIo } from './tool.ts'

/** Reports in PCP's words if a file of an archive already exists at `path`, with `name` from the command line, and returns true. */
export function archiveExists(path: string, name: string, io: Pick<ToolIo, 'stderr'>): boolean {
  const existing = ['index', 'meta', '0'].find((part) => existsSync(`${path}.${part}`))
  if (existing === undefined) return false
  io.stderr.write(`__pmLogNewFile: "${name}.${existing}" already exists, not over-written\n`)
  return true
}
