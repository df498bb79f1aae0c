/** Builds the chart page into share/web: its program and the worker's, style and icon, with hashes in their names. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { top } from './lib/run.mjs'

const UI = 'src/ui'
const WEB = join(top, 'share', 'web')
const PLACE = '/ui/assets'

/** Where pmproxy serves a file that was put into the assets. */
function asset(name, contents) {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8)
  const [stem, suffix] = name.split('.')
  const file = `${stem}-${hash}.${suffix}`
  writeFileSync(join(WEB, 'assets', file), contents)
  return `${PLACE}/${file}`
}

/** Builds it; returns the bytes of each file. */
export async function buildUi() {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: top,
    entryPoints: [`${UI}/main.tsx`, `${UI}/data/archive-worker.ts`, `${UI}/style/page.css`],
    outdir: 'share/web/assets',
    entryNames: '[name]',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: ['es2022', 'chrome117', 'firefox119', 'safari17.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  })
  rmSync(WEB, { recursive: true, force: true })
  mkdirSync(join(WEB, 'assets'), { recursive: true })
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]))
  files.set('icon.svg', readFileSync(join(top, UI, 'icon.svg')))
  const places = new Map([...files].map(([name, contents]) => [name, asset(name, contents)]))
  const html = readFileSync(join(top, UI, 'index.html'), 'utf8').replace(/\{\{([\w.-]+)\}\}/g, (_, name) => {
    const place = places.get(name)
    if (place === undefined) throw new Error(`index.html names ${name}, which the build does not make`)
    return place
  })
  writeFileSync(join(WEB, 'index.html'), html)
  return files
}

if (process.argv[1] === import.meta.filename) {
  const { gzipSync } = await import('node:zlib')
  for (const [name, contents] of await buildUi())
    console.log(`${name}: ${contents.length} bytes, ${gzipSync(contents).length} with gzip`)
}
