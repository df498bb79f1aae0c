/** Files of the chart page: codings, validators, and files never sent. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acceptedCodings } from '../../../src/pmproxy/http/encode.ts'
import type { Reply } from '../../../src/pmproxy/http/reply.ts'
import { answerPage } from '../../../src/pmproxy/routes/page-files.ts'

const SCRIPT = `console.log('${'chart '.repeat(400)}')`
let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'page-files-'))
  mkdirSync(join(dir, 'assets'))
  writeFileSync(join(dir, 'index.html'), '<!doctype html>')
  for (const name of ['main-1.js', 'old-1.js']) {
    writeFileSync(join(dir, 'assets', name), SCRIPT)
    writeFileSync(join(dir, 'assets', `${name}.br`), brotliCompressSync(SCRIPT))
    writeFileSync(join(dir, 'assets', `${name}.gz`), gzipSync(SCRIPT))
  }
  for (const end of ['.br', '.gz']) utimesSync(join(dir, 'assets', `old-1.js${end}`), 1, 1)
})
afterAll(() => rmSync(dir, { recursive: true }))

const ask = (path: string, headers: Record<string, string> = {}): Promise<Reply | undefined> =>
  answerPage({ path, headers }, dir)

test.each([
  ['gzip, deflate, br, zstd', ['br', 'gzip']],
  ['gzip;q=0.8, br;q=0.5', ['gzip', 'br']],
  ['br;q=0, gzip', ['gzip']],
  ['*', ['br', 'gzip']],
  ['*;q=0.1, br;q=0', ['gzip']],
  ['BR', ['br']],
  ['br;q=nonsense', []],
  ['identity', []],
  [undefined, []],
])('for "%s" files are sent as one of %j', (accepted, codings) => {
  expect(acceptedCodings(accepted, ['br', 'gzip'])).toEqual(codings)
})

test('a file is sent in the best coding that the client accepts, with a tag for each', async () => {
  const brotli = (await ask('/ui/assets/main-1.js', { 'accept-encoding': 'gzip, deflate, br' }))!
  expect(brotli).toMatchObject({ status: 200, coding: 'br', type: 'text/javascript; charset=utf-8' })
  expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT)
  const gzip = (await ask('/ui/assets/main-1.js', { 'accept-encoding': 'gzip' }))!
  expect(gzip.coding).toBe('gzip')
  expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT)
  const plain = (await ask('/ui/assets/main-1.js'))!
  expect(plain.coding).toBeUndefined()
  expect(plain.body.toString()).toBe(SCRIPT)
  const tags = [brotli, gzip, plain].map(({ headers }) => headers!['ETag'])
  expect(new Set(tags).size).toBe(3)
  for (const { headers } of [brotli, gzip, plain])
    expect(headers).toMatchObject({
      Vary: 'Accept-Encoding',
      'Cache-Control': 'public, max-age=31536000, immutable',
    })
})

test('a copy that is older than its file is not sent, and copies have no address', async () => {
  const accepted = { 'accept-encoding': 'br, gzip' }
  expect((await ask('/ui/assets/old-1.js', accepted))!.coding).toBeUndefined()
  expect((await ask('/ui/assets/main-1.js.br', accepted))!.status).toBe(404)
  expect((await ask('/ui/assets/main-1.js.gz', accepted))!.status).toBe(404)
})

test('a client that has the file gets no content', async () => {
  const first = (await ask('/ui/'))!
  const tag = first.headers!['ETag']!
  expect(first.headers!['Cache-Control']).toBe('no-cache')
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`])
    expect(await ask('/ui/', { 'if-none-match': known })).toMatchObject({
      status: 304,
      body: '',
      headers: { ETag: tag, Vary: 'Accept-Encoding' },
    })
  expect((await ask('/ui/', { 'if-none-match': '"other"' }))!.status).toBe(200)
})
