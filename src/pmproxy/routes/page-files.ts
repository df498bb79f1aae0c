/** Files of the chart page. docs/reference/pmproxy.md */
import { readFile, realpath, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { page, type Reply } from '../http/reply.ts'

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

/** Answers requests for `/`, `/ui` and below; undefined for other paths. Reads files below `dir` only. */
export async function answerPage(path: string, dir: string | undefined): Promise<Reply | undefined> {
  if (path === '/' || path === '/ui')
    return { status: 302, type: 'text/html', body: '', headers: { Location: '/ui/' } }
  if (!path.startsWith('/ui/')) return undefined
  const name = path.slice('/ui/'.length) || 'index.html'
  const isFine = name.split('/').every((part) => /^[\w@-][\w.@-]*$/.test(part))
  const type = TYPES[extname(name)]
  const body = dir === undefined || !isFine || type === undefined ? undefined : await read(dir, name)
  if (body === undefined || type === undefined)
    return path === '/ui/'
      ? page(404, 'ui', 'the page is not installed; npm run build creates share/web')
      : page(404, 'ui', 'no such file')
  const isHashed = name.startsWith('assets/')
  const cache = isHashed ? `public, max-age=${YEAR}, immutable` : 'no-cache'
  const safety = WORKER.test(name) ? { ...SAFETY, 'Content-Security-Policy': WORKER_POLICY } : SAFETY
  return { status: 200, type, body, headers: { ...safety, 'Cache-Control': cache } }
}

async function read(dir: string, name: string): Promise<Uint8Array | undefined> {
  try {
    const base = await realpath(dir)
    const path = await realpath(join(base, name))
    if (!path.startsWith(base + sep)) return undefined
    const stats = await stat(path)
    return stats.isFile() && stats.size <= MOST_BYTES ? await readFile(path) : undefined
  } catch {
    return undefined // missing and unreadable files get the same response
  }
}
