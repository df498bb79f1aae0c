/** Runs the layers without Node dependencies in headless Chromium, from one bundle, and prints its size. Skipped without Chromium. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readVectors } from '../vectors.ts'
import { CHROMIUM } from './lib/page.ts'

const top = process.cwd()
const PURE = ['base', 'model', 'time', 'wire', 'pmns', 'derive', 'archive']
const ARCHIVE = '/var/lib/pcp/testsuite/archives/20041125'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-browser-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

async function bundle(entry: string | { readonly contents: string }): Promise<Uint8Array> {
  const from =
    typeof entry === 'string'
      ? { entryPoints: [entry] }
      : { stdin: { ...entry, resolveDir: join(top, 'src'), sourcefile: 'all.ts', loader: 'ts' as const } }
  const { outputFiles } = await build({
    ...from,
    absWorkingDir: top,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'pcp',
    target: 'es2022',
    minify: true,
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]!.contents
}

function sizes(bytes: Uint8Array): string {
  return `${(bytes.length / 1024).toFixed(0)} KB, ${(gzipSync(bytes).length / 1024).toFixed(0)} KB gzip`
}

test('all code without Node dependencies bundles for browsers', async () => {
  const files = PURE.flatMap((folder) =>
    readdirSync(join(top, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  )
  const contents = files.map((file, i) => `export * as m${i} from './${file}'`).join('\n')
  const all = await bundle({ contents })
  console.log(`browser: all ${files.length} files of ${PURE.join(', ')}: ${sizes(all)}`)
  expect(all.length).toBeLessThan(400 * 1024)
})

test('a page decodes PDUs, parses units, and reads archives and derived metrics from dropped files', async () => {
  if (CHROMIUM === undefined) {
    console.log('skipped: no Chromium here (Debian: apt-get install chromium)')
    return
  }
  const { 0: pdu } = JSON.parse(JSON.stringify(readVectors('wire/fetch.json'))) as { 0: { hex: string } }
  const files = Object.fromEntries(
    ['0', 'index', 'meta']
      .filter((part) => existsSync(`${ARCHIVE}.${part}`))
      .map((part) => [`given.${part}`, readFileSync(`${ARCHIVE}.${part}`).toString('base64')]),
  )
  const script = await bundle('test/browser/page.ts')
  console.log(`browser: the page of this test: ${sizes(script)}`)
  const page = join(dir, 'page.html')
  const given = JSON.stringify({ pdu: pdu.hex, files })
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><body></body><script>const given=${given}</script><script>${Buffer.from(script)}</script>`,
  )
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  let shown: string
  try {
    const opened = await browser.newPage()
    await opened.goto(`file://${page}`)
    const answer = opened.locator('body', { hasText: /^[{]/ })
    await answer.waitFor()
    shown = (await answer.textContent()) ?? ''
  } finally {
    await browser.close()
  }
  const { result, error } = JSON.parse(shown) as { result: Record<string, unknown>; error?: string }
  expect(error).toBeUndefined()
  expect(result).toMatchObject({
    fetch: ['29.0.80'],
    units: 'Mbyte / sec^2',
    interval: { sec: 90, nsec: 0 },
    time: 'Thu Jan  1 00:00:00 1970',
    names: ['a.b'],
    made: { host: 'browser', records: 5, points: 10, last: 40, doubled: expect.anything() },
  })
  if (Object.keys(files).length > 0) {
    expect(result['given']).toMatchObject({ host: expect.any(String), points: expect.any(Number) })
    console.log(`browser: ${ARCHIVE}: ${JSON.stringify(result['given']).slice(0, 300)}`)
  }
})
