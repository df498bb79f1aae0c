/** Bundles programs from the current sources into single files, for tests that start processes. */
import { join } from 'node:path'
import { build } from 'esbuild'

/** Writes a program from a file, or from a text whose imports are relative to package.json. */
export async function bundleProgram(
  outfile: string,
  source: { readonly file: string } | { readonly text: string },
): Promise<void> {
  await build({
    ...('file' in source
      ? { entryPoints: [source.file] }
      : { stdin: { contents: source.text, resolveDir: process.cwd(), loader: 'ts' } }),
    absWorkingDir: process.cwd(),
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    external: ['koffi'],
    define: { 'import.meta.url': '__filename' },
  })
}

/** Writes `dir/NAME.cjs` for every `NAME: file below src/tools`. */
export async function bundleTools(dir: string, tools: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(
    Object.entries(tools).map(([name, file]) =>
      bundleProgram(join(dir, `${name}.cjs`), {
        text: `import { main } from './src/tools/main.ts'
               import { tool } from './src/tools/${file}'
               void main(tool)`,
      }),
    ),
  )
}

/** Writes the daemon of the agent that a module exports; default: our module for that agent. */
export async function bundleDaemon(
  outfile: string,
  name: string,
  module = `./src/agents/${name}/index.ts`,
): Promise<void> {
  const text = `import { agent } from '${module}'
                import { runDaemon } from './src/pmda/run-daemon.ts'
                void runDaemon(agent)`
  await bundleProgram(outfile, { text })
}

/** Writes `agent-worker.cjs`, which runs agents in threads of a collector; returns its path. */
export async function bundleAgentWorker(dir: string): Promise<string> {
  const program = join(dir, 'agent-worker.cjs')
  await bundleProgram(program, { file: 'src/pmcd/agent-worker.ts' })
  return program
}
