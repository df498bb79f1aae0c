/** Our agents as programs that PCP's collector and dbpmda start. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { plainEnv } from './programs.ts'

/** Builds an agent's daemon into `dir`; returns the command that runs it. */
export async function buildAgent(name: string, dir: string): Promise<string> {
  const outfile = join(dir, `pmda${name}.cjs`)
  const contents = `
import { agent } from './src/agents/${name}/index.ts'
import { runDaemon } from './src/pmda/run-daemon.ts'
void runDaemon(agent)
`
  await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts', sourcefile: `${name}.ts` },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
  })
  const command = join(dir, `pmda${name}`)
  const script = `#!/bin/sh\nunset NODE_EXTRA_CA_CERTS\nexec ${process.execPath} ${outfile} "$@"\n`
  writeFileSync(command, script, { mode: 0o755 })
  return command
}

/** What dbpmda prints of a session with the agent that `open` opens: the rest of an open command. */
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
