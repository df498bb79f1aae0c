/** Builds the chart page into share/web: its program in two parts and the worker's, style and icon, with hashes in their names. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { top } from './lib/run.mjs'

const UI = 'src/ui'
const WEB = join(top, 'share', 'web')
const PLACE = '/ui/assets'
/** As many bytes, with gzip, may the programs have that a browser reads before it draws the first chart. */
const BUDGET = 64 * 1024

const OPTIONS = {
  absWorkingDir: top,
  outdir: 'share/web/assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  target: ['es2022', 'chrome117', 'firefox119', 'safari17.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
}

/** The file that esbuild made of a source, and what it imports at once, itself first. */
function firstLoad({ outputs }, source) {
  const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === source)
  const paths = new Set([entry])
  for (const path of paths)
    for (const { path: other, kind } of outputs[path].imports)
      if (kind === 'import-statement') paths.add(other)
  return [...paths].map((path) => basename(path))
}

function icon() {
  const contents = readFileSync(join(top, UI, 'icon.svg'))
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8)
  return { name: `icon-${hash}.svg`, contents }
}

/** Builds it; returns each file, and whether a browser reads it at once. Throws when those are beyond the budget. */
export async function buildUi() {
  const { build } = await import('esbuild')
  const page = await build({
    ...OPTIONS,
    entryPoints: [`${UI}/main.tsx`, `${UI}/style/page.css`],
    splitting: true,
  })
  // Built for itself: what it has in common with the page is no reason to cut the page in more pieces.
  const worker = await build({ ...OPTIONS, entryPoints: [`${UI}/data/archive-worker.ts`] })
  const [main, ...shared] = firstLoad(page.metafile, `${UI}/main.tsx`)
  const [style] = firstLoad(page.metafile, `${UI}/style/page.css`)
  const [archiveWorker] = firstLoad(worker.metafile, `${UI}/data/archive-worker.ts`)
  const { name: iconName, contents: iconContents } = icon()
  const files = [
    ...[...page.outputFiles, ...worker.outputFiles].map(({ path, contents }) => ({
      name: basename(path),
      contents,
    })),
    { name: iconName, contents: iconContents },
  ].map((file) => ({ ...file, isFirst: file.name === main || shared.includes(file.name) }))
  rmSync(WEB, { recursive: true, force: true })
  mkdirSync(join(WEB, 'assets'), { recursive: true })
  for (const { name, contents } of files) writeFileSync(join(WEB, 'assets', name), contents)
  const names = {
    'main.js': main,
    'page.css': style,
    'archive-worker.js': archiveWorker,
    'icon.svg': iconName,
  }
  const html = readFileSync(join(top, UI, 'index.html'), 'utf8')
    .replace(/\{\{([\w.-]+)\}\}/g, (_, name) => {
      if (names[name] === undefined)
        throw new Error(`index.html names ${name}, which the build does not make`)
      return `${PLACE}/${names[name]}`
    })
    .replace('  </head>', (end) =>
      [...shared.map((name) => `    <link rel="modulepreload" href="${PLACE}/${name}" />\n`), end].join(''),
    )
  writeFileSync(join(WEB, 'index.html'), html)
  const bytes = files.reduce(
    (sum, { isFirst, contents }) => sum + (isFirst ? gzipSync(contents).length : 0),
    0,
  )
  if (bytes > BUDGET)
    throw new Error(
      `The chart page's first load has ${bytes} bytes with gzip, and may have ${BUDGET}: src/ui/rest.ts`,
    )
  return files
}

if (process.argv[1] === import.meta.filename) {
  for (const { name, contents, isFirst } of await buildUi()) {
    const sizes = `${contents.length} bytes, ${gzipSync(contents).length} with gzip`
    console.log(`${name}: ${sizes}${isFirst ? ', at once' : ''}`)
  }
}
