/** Files of the chart page. docs/reference/pmproxy.md */
import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { acceptedCodings, type FileCoding } from '../http/encode.ts'
import { page, type Reply } from '../http/reply.ts'
import type { WebRequest } from '../http/request.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Content security policy: only resources of this server. WebAssembly decompresses xz files in local archives. */
const policy = (connections: string): string =>
  [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${connections}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
const POLICY = policy("'self'")
/**
 * The worker also reads archives from other web servers. It has no part of the page, no key, and sends no credentials; the page itself may
 * still connect to this server only. docs/decisions/remote-archives.md
 */
const WORKER_POLICY = policy("'self' https: http:")
const WORKER = /^assets\/archive-worker-\w+\.js$/

/** Headers of all files, in addition to those of every response. */
const SAFETY: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

const MOST_BYTES = 16 * 1024 * 1024
const YEAR = 31_536_000

/** Ends of the names of files that the build has compressed, the smallest first. scripts/build-ui.mjs */
const COMPRESSED: Readonly<Record<FileCoding, string>> = { br: '.br', gzip: '.gz' }
const CODINGS = Object.keys(COMPRESSED) as FileCoding[]

/** A file in the form in which it is sent. */
interface Content {
  readonly body: Uint8Array
  readonly coding: FileCoding | undefined
  /** Differs between codings and after a change. */
  readonly tag: string
}

/**
 * Answers requests for `/`, `/ui` and below; undefined for other paths. Reads files below `dir` only, and sends what the build has
 * compressed if the client accepts it. Ranges are not supported: the whole file is sent.
 */
export async function answerPage(
  { path, headers }: Pick<WebRequest, 'path' | 'headers'>,
  dir: string | undefined,
): Promise<Reply | undefined> {
  if (path === '/' || path === '/ui')
    return { status: 302, type: 'text/html', body: '', headers: { Location: '/ui/' } }
  if (!path.startsWith('/ui/')) return undefined
  const name = path.slice('/ui/'.length) || 'index.html'
  const isFine = name.split('/').every((part) => /^[\w@-][\w.@-]*$/.test(part))
  const type = TYPES[extname(name)]
  const found =
    dir === undefined || !isFine || type === undefined
      ? undefined
      : await content(dir, name, headers['accept-encoding'])
  if (found === undefined || type === undefined)
    return path === '/ui/'
      ? page(404, 'ui', 'the page is not installed; npm run build creates share/web')
      : page(404, 'ui', 'no such file')
  const isHashed = name.startsWith('assets/')
  const cache = isHashed ? `public, max-age=${YEAR}, immutable` : 'no-cache'
  const safety = WORKER.test(name) ? { ...SAFETY, 'Content-Security-Policy': WORKER_POLICY } : SAFETY
  const { body, coding, tag } = found
  const about = { ...safety, 'Cache-Control': cache, ETag: tag, Vary: 'Accept-Encoding' }
  if (knows(headers['if-none-match'], tag))
    return { status: 304, type, body: '', coding: 'identity', headers: about }
  return { status: 200, type, body, headers: about, ...(coding === undefined ? {} : { coding }) }
}

/** Checks whether a client has the file already. RFC 9110 §13.1.2 */
const knows = (tags: string | undefined, tag: string): boolean =>
  tags?.split(',', 20).some((one) => one.trim().replace(/^W\//, '') === tag) ?? false

/** Returns the smallest of the file and its compressed copies that the client accepts; undefined without the file. */
async function content(
  dir: string,
  name: string,
  accepted: string | undefined,
): Promise<Content | undefined> {
  const plain = await read(dir, name)
  if (plain === undefined) return undefined
  for (const coding of acceptedCodings(accepted, CODINGS)) {
    const copy = await read(dir, `${name}${COMPRESSED[coding]}`)
    // A copy left by an earlier build has other content.
    if (copy !== undefined && copy.changed >= plain.changed)
      return { body: copy.body, coding, tag: tagOf(copy.body, coding) }
  }
  return { body: plain.body, coding: undefined, tag: tagOf(plain.body, 'identity') }
}

/** By the content: packages give all their files one time. */
const tagOf = (body: Uint8Array, coding: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}-${coding}"`

interface Read {
  readonly body: Uint8Array
  /** Time of the last change, ms since the epoch. */
  readonly changed: number
}

async function read(dir: string, name: string): Promise<Read | undefined> {
  try {
    const base = await realpath(dir)
    const path = await realpath(join(base, name))
    if (!path.startsWith(base + sep)) return undefined
    const stats = await stat(path)
    if (!stats.isFile() || stats.size > MOST_BYTES) return undefined
    return { body: await readFile(path), changed: stats.mtimeMs }
  } catch {
    return undefined // missing and unreadable files get the same response
  }
}
