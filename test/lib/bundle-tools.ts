/** Commands from the sources as they are, each bundled into one file, for tests that start processes. */
import { join } from 'node:path'
import { build } from 'esbuild'

/** Writes `dir/NAME.cjs` for every `NAME: file below src/tools`. */
export async function bundleTools(dir: string, tools: Readonly<Record<string, string>>): Promise<void> {
  await Promise.all(
    Object.entries(tools).map(([name, file]) =>
      build({
        stdin: {
          contents: `import { main } from './src/tools/main.ts'
                     import { tool } from './src/tools/${file}'
                     void main(tool)`,
          resolveDir: process.cwd(),
          loader: 'ts',
        },
        outfile: join(dir, `${name}.cjs`),
        bundle: true,
        platform: 'node',
        format: 'cjs',
        external: ['koffi'],
        define: { 'import.meta.url': '__filename' },
      }),
    ),
  )
}
