/** Writes the folder of a new agent, for pmda-new and for pcp-ts agent new. */
import { existsSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { type NewAgent, newAgentFiles } from './templates.ts'

/** Returns whether an agent, its folder and its metrics can have this name. */
export function isAgentName(name: string): boolean {
  return /^[a-z][a-z0-9_]{0,31}$/.test(name)
}

/** Returns the message for another name. */
export function invalidName(name: string): string {
  return `invalid name "${name}": use lower case letters, digits and underscores, starting with a letter`
}

/** Writes the whole folder, or nothing. */
export function writeAgent(dir: string, agent: NewAgent): void {
  try {
    for (const [path, text] of newAgentFiles(agent)) {
      const file = join(dir, path)
      makeDir(dirname(file))
      writeFileSync(file, text, { flag: 'wx', mode: path.startsWith('pmda') ? 0o755 : 0o644 })
    }
    linkPackage(dir)
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw PcpError.from(error, `Cannot write ${dir}`)
  }
}

/** Links this package where the agent's imports find it, so that it runs before npm install. */
function linkPackage(dir: string): void {
  const top = dirname(dirname(realpathSync(process.argv[1]!)))
  if (!existsSync(join(top, 'package.json'))) return
  makeDir(join(dir, 'node_modules'))
  symlinkSync(top, join(dir, 'node_modules', 'pcp-ts'))
}
