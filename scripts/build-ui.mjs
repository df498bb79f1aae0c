/** Builds the chart page into share/web: its script in two parts, the worker, styles and icon, with hashes in their names, each also compressed. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { top } from './lib/run.mjs'

const UI = 'src/ui'
const WEB = join(top, 'share', 'web')
const PLACE = '/ui/assets'
/** Limit, in bytes after gzip, of the scripts that a browser loads before it draws the first chart. */
const BUDGET = 80_000
/** Limit, in bytes after brotli, of all that a browser is sent before it draws the first chart: the page, styles and scripts. */
const SENT_BUDGET = 80_000
/** Shorter files are sent as they are, as responses of pmproxy. */
const LEAST_COMPRESSED = 1024

const brotli = (contents) =>
  brotliCompressSync(contents, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
    },
  })

/** Returns the sizes of a file: uncompressed, after gzip, and as sent. */
export function sizesOf(contents) {
  const gzip = gzipSync(contents, { level: 9 }).length
  const sent = contents.length < LEAST_COMPRESSED ? contents.length : brotli(contents).length
  return { plain: contents.length, gzip, sent }
}

/** Writes a file and its compressed copies, which src/pmproxy/routes/page-files.ts sends. */
function writeCompressed(path, contents) {
  writeFileSync(path, contents)
  if (contents.length < LEAST_COMPRESSED) return
  writeFileSync(`${path}.br`, brotli(contents))
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }))
}

const OPTIONS = {
  absWorkingDir: top,
  // Output must not depend on where a linked node_modules is.
  preserveSymlinks: true,
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

/** Lets lazily loaded parts import their styles as minified text, so that they need no further request. */
const STYLES_AS_TEXT = {
  name: 'styles as text',
  setup({ onResolve, onLoad, esbuild }) {
    onResolve({ filter: /\.css\?text$/ }, ({ path, resolveDir }) => ({
      // Names of outputs depend on it, and must not on the place of the checkout.
      path: relative(top, join(resolveDir, path.replace('?text', ''))),
      namespace: 'styles',
    }))
    onLoad({ filter: /./, namespace: 'styles' }, async ({ path }) => {
      const { outputFiles } = await esbuild.build({ ...OPTIONS, entryPoints: [path] })
      return { contents: outputFiles[0].text.trim(), loader: 'text' }
    })
  },
}

/** Returns the output file of a source and its static imports, itself first. */
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

/** Builds the page; returns each output file and whether a browser loads it immediately, and the bundled files. Throws if the former exceed the limit. */
export async function buildUi() {
  const { build } = await import('esbuild')
  const plugins = [STYLES_AS_TEXT]
  const page = await build({
    ...OPTIONS,
    entryPoints: [`${UI}/main.tsx`, `${UI}/style/page.css`],
    splitting: true,
    plugins,
  })
  // Bundled separately, because code shared with the page would split the page into more files.
  // A classic script, because in a file a browser refuses modules as workers.
  const worker = await build({ ...OPTIONS, entryPoints: [`${UI}/data/archive-worker.ts`], format: 'iife' })
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
  for (const { name, contents } of files) writeCompressed(join(WEB, 'assets', name), contents)
  const scripts = await build({
    ...OPTIONS,
    entryPoints: { 'incident-page': `${UI}/main.tsx` },
    // A classic script can be put into a document; imports of lazily loaded parts are bundled too.
    format: 'iife',
    plugins,
  })
  writeFileSync(
    join(WEB, 'incident.html'),
    incidentTemplate({
      style: contentOf(page.outputFiles, style),
      worker: contentOf(worker.outputFiles, archiveWorker),
      script: Buffer.from(scripts.outputFiles[0].contents),
    }),
  )
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
  writeCompressed(join(WEB, 'index.html'), Buffer.from(html))
  const bytes = files.reduce(
    (sum, { isFirst, contents }) => sum + (isFirst ? gzipSync(contents).length : 0),
    0,
  )
  const sent = [
    Buffer.from(html),
    ...files.filter(({ isFirst, name }) => isFirst || name === style).map(({ contents }) => contents),
  ].reduce((sum, contents) => sum + sizesOf(contents).sent, 0)
  if (sent > SENT_BUDGET)
    throw new Error(`The chart page's first load is ${sent} bytes as sent; the limit is ${SENT_BUDGET}`)
  if (bytes > BUDGET)
    throw new Error(
      `The chart page's first load is ${bytes} bytes after gzip; the limit is ${BUDGET}. Move code to src/ui/lazy-part.ts`,
    )
  console.log(
    `chart page, first load: scripts ${bytes} bytes after gzip (limit ${BUDGET}); all ${sent} as sent, with brotli (limit ${SENT_BUDGET})`,
  )
  return { files, bundled: [...bundledInputs(page.metafile), ...bundledInputs(worker.metafile)] }
}

const contentOf = (files, name) => Buffer.from(files.find(({ path }) => basename(path) === name).contents)

/** Returns the page as one file, without an incident. */
function incidentTemplate({ style, worker, script }) {
  const packed = (code) => gzipSync(code, { level: 9 }).toString('base64')
  const parts = {
    'page.css': style.toString().trim(),
    'archive-worker.js': packed(worker),
    'incident-page.js': packed(script),
  }
  return readFileSync(join(top, UI, 'incident.html'), 'utf8').replace(
    /(?:\/\* )?\{\{([\w.-]+)\}\}(?: \*\/)?/g,
    (_, name) => parts[name],
  )
}

/** Returns the sources of which some code is in the outputs. */
function bundledInputs({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.keys(inputs)
      .filter((path) => inputs[path].bytesInOutput > 0)
      .map((path) => join(top, path)),
  )
}

if (process.argv[1] === import.meta.filename) {
  for (const { name, contents, isFirst } of (await buildUi()).files) {
    const { plain, gzip, sent } = sizesOf(contents)
    console.log(
      `${name}: ${plain} bytes, ${gzip} after gzip, ${sent} as sent${isFirst ? ', first load' : ''}`,
    )
  }
}
