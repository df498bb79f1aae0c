/**
 * Makes one executable file of all commands, with Node in it: `npm run package:sea -- [--out FILE] [--node FILE] [--node-license FILE]
 * [--without-koffi]`. Needs a build. docs/decisions/single-executable.md
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import { inject } from 'postject'
import { cleanEnv, top } from '../lib/run.mjs'
import { fail, nodeToShip, packageFiles, version } from './contents.mjs'

/** Marks the byte of Node's file that makes it a single executable. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
/** Documents and declarations are for readers and compilers. */
const UNUSED = /^(?:docs|dist\/(?:api|types|types-cjs))\/|^(?:CHANGELOG|README)\.md$/
const KOFFI = /^(?:index|src\/koffi\/(?:[\w.-]+\/)*[\w.-]+)\.c?js$|^package\.json$|^LICENSE\.txt$/
const QUALITY = 9

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    node: { type: 'string' },
    'node-license': { type: 'string' },
    'without-koffi': { type: 'boolean' },
  },
})
const node = nodeToShip(values.node, values['node-license'])
if (node.platform !== 'linux')
  fail(`package:sea makes executables for Linux; ${node.path} is for ${node.platform}`)
const out = resolve(values.out ?? join(top, `pcp-ts-${version()}-linux-${node.arch}`))
const work = mkdtempSync(join(tmpdir(), 'pcp-ts-sea-'))
try {
  await make()
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function make() {
  const files = [
    ...packageFiles().filter(({ path }) => !UNUSED.test(path)),
    ...(values['without-koffi'] ? [] : koffi()),
    { path: 'import.cjs', mode: 0o644, contents: Buffer.from('module.exports = (url) => import(url)\n') },
    { path: 'node-license.txt', mode: 0o644, contents: node.license },
  ]
  const hash = createHash('sha256')
  for (const { path, mode, contents } of files)
    hash.update(`${path} ${mode} ${contents.length}\n`).update(contents)
  const all = Buffer.concat(files.map(({ contents }) => contents))
  const index = {
    hash: hash.digest('hex'),
    files: files.map(({ path, mode, contents }) => [path, mode, contents.length]),
  }
  const at = (name) => join(work, name)
  writeFileSync(at('index.json'), JSON.stringify(index))
  writeFileSync(
    at('contents'),
    brotliCompressSync(all, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  )
  await build({
    absWorkingDir: top,
    entryPoints: ['src/tools/executable/main.ts'],
    outfile: at('main.cjs'),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const config = {
    // Relative, because the path is in the output.
    main: 'main.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    // Would differ from run to run.
    useCodeCache: false,
    assets: { index: 'index.json', contents: 'contents' },
  }
  writeFileSync(at('config.json'), JSON.stringify(config))
  execFileSync(node.path, ['--experimental-sea-config', 'config.json'], {
    cwd: work,
    env: cleanEnv(),
    stdio: 'pipe',
  })
  mkdirSync(dirname(out), { recursive: true })
  rmSync(out, { force: true })
  writeFileSync(out, readFileSync(node.path))
  await quietly(() => inject(out, 'NODE_SEA_BLOB', readFileSync(at('blob')), { sentinelFuse: FUSE }))
  chmodSync(out, 0o755)
  const notices = ['LICENSE', 'NOTICE', 'dist/third-party-notices.txt'].map((name) =>
    readFileSync(join(top, name), 'utf8'),
  )
  writeFileSync(`${out}.licenses.txt`, [...notices, `Node.js ${node.version}\n\n${node.license}`].join('\n'))
  console.log(
    `${out}: ${statSync(out).size} bytes, ${files.length} files of ${all.length} bytes, Node ${node.version}`,
  )
}

/** Returns the optional package and its library for this machine. */
function koffi() {
  const modules = join(top, 'node_modules')
  const own = below('koffi').filter(({ path }) => KOFFI.test(path.slice('node_modules/koffi/'.length)))
  const native = readdirSync(join(modules, '@koromix')).filter((name) => name === `koffi-linux-${node.arch}`)
  if (native.length === 0) fail('koffi has no library for this Node here: npm ci, or use --without-koffi')
  return [...own, ...below(`@koromix/${native[0]}`).filter(({ path }) => !path.includes('/musl_'))]

  function below(name) {
    const dir = join(modules, name)
    return readdirSync(dir, { recursive: true })
      .sort()
      .filter((path) => statSync(join(dir, path)).isFile())
      .map((path) => ({
        path: `node_modules/${name}/${path}`,
        mode: 0o644,
        contents: readFileSync(join(dir, path)),
      }))
  }
}

/** Hides warnings about sections that postject's library prints for every Node. */
async function quietly(work) {
  const { log, warn, error } = console
  Object.assign(console, { log: () => {}, warn: () => {}, error: () => {} })
  try {
    await work()
  } finally {
    Object.assign(console, { log, warn, error })
  }
}
