/** Our agents as programs that PCP's collector and dbpmda start. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleDaemon } from '../../lib/bundle-tools.ts'
import { plainEnv } from './programs.ts'

/** Builds an agent's daemon in `dir`; returns the command that runs it. `module` is for `bundleDaemon`. */
export async function buildAgent(name: string, dir: string, module?: string): Promise<string> {
  const outfile = join(dir, `pmda${name}.cjs`)
  await bundleDaemon(outfile, name, module)
  const command = join(dir, `pmda${name}`)
  const script = `#!/bin/sh\nunset NODE_EXTRA_CA_CERTS\nexec ${process.execPath} ${outfile} "$@"\n`
  writeFileSync(command, script, { mode: 0o755 })
  return command
}

/** Returns dbpmda's output of a session; `open` holds the arguments of the open command. */
export function dbpmda(open: string, session: readonly string[], cwd: string): string {
  const input = [`open ${open}`, ...session, 'quit', ''].join('\n')
  const { stdout, stderr } = spawnSync('dbpmda', ['-ef'], {
    cwd,
    env: plainEnv(),
    encoding: 'utf8',
    input,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout + stderr
}
