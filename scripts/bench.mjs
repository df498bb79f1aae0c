/** Runs a benchmark: `npm run bench -- NAME [option...]`; without a name it lists them. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, must, top } from './lib/run.mjs'

const [name, ...options] = process.argv.slice(2)
const folders = ['macro', 'micro']
  .map((folder) => join(top, 'bench', folder))
  .filter((folder) => existsSync(folder))
const file = folders.map((folder) => join(folder, `${name}.ts`)).find((path) => existsSync(path))
if (name === undefined || file === undefined) {
  const names = folders.flatMap((folder) => readdirSync(folder).filter((entry) => entry.endsWith('.ts')))
  console.error(
    `usage: npm run bench -- NAME [option...], NAME one of: ${names.map((entry) => entry.slice(0, -3)).join(' ')}`,
  )
  process.exit(1)
}
build('--bin')
const outfile = join(top, 'node_modules', '.cache', 'pcp-ts', `bench-${name}.mjs`)
await (await import('esbuild')).build({
  absWorkingDir: top,
  entryPoints: [file],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
})
must(process.execPath, [outfile, ...options])
