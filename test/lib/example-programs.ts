/** Programs of the documentation, bundled and type-checked against the sources. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const top = process.cwd()
const ENTRIES: Readonly<Record<string, string>> = {
  'pcp-ts': 'src/index.ts',
  'pcp-ts/pmapi': 'src/pmapi/index.ts',
  'pcp-ts/local': 'src/local.ts',
  'pcp-ts/archive': 'src/archive.ts',
  'pcp-ts/derive': 'src/derive.ts',
  'pcp-ts/pmda': 'src/pmda/index.ts',
  'pcp-ts/mmv': 'src/mmv/index.ts',
  'pcp-ts/node': 'src/node/index.ts',
}

/** Bundles the programs `dir/NAME.mts` into `dir/built/NAME.mjs`. */
export async function bundleExamples(dir: string, names: readonly string[]): Promise<void> {
  await build({
    entryPoints: names.map((name) => join(dir, `${name}.mts`)),
    outdir: join(dir, 'built'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    alias: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(top, file)])),
    external: ['koffi'],
    logLevel: 'error',
  })
}

/** Compiles all programs in `dir`; returns the compiler's errors. */
export function typeErrors(dir: string): readonly string[] {
  const paths = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [join(top, file)]]))
  const config = {
    extends: join(top, 'tsconfig.json'),
    compilerOptions: {
      paths,
      typeRoots: [join(top, 'node_modules/@types')],
      isolatedDeclarations: false,
      declaration: false,
    },
    include: ['*.mts'],
  }
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  const tsc = spawnSync(join(top, 'node_modules/.bin/tsc'), ['-p', dir], { encoding: 'utf8' })
  return tsc.stdout.split('\n').filter((line) => /^\S+\.mts\(/.test(line))
}
