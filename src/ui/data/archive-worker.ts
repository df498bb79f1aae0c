/** The worker that reads archives from local files and from web servers. Each request gets one response. */
import type { ChangeQuery } from '../../analysis/what-changed.ts'
import { PcpError } from '../../model/errors.ts'
import type { FiringsQuery } from '../../rules/firings.ts'
import { decompressed } from './decompress.ts'
import { type ChartBytes, LocalArchive } from './local-archive.ts'
import { openRemoteArchive, workerNetwork } from './remote-archive.ts'
import type { RangeQuery } from './responses.ts'

/** A request of the page. */
export type Request =
  | {
      readonly do: 'open'
      readonly base: string
      readonly files: readonly File[]
    }
  | { readonly do: 'open-remote'; readonly url: string }
  | { readonly do: 'names'; readonly match: string; readonly offset: number; readonly limit: number }
  | { readonly do: 'children'; readonly prefix: string }
  | { readonly do: 'metric'; readonly name: string }
  | { readonly do: 'instances'; readonly name: string; readonly values: boolean }
  | { readonly do: 'check'; readonly expr: string }
  | { readonly do: 'range'; readonly query: RangeQuery }
  | { readonly do: 'excerpt'; readonly start: number; readonly finish: number }
  | { readonly do: 'changes'; readonly query: ChangeQuery }
  | { readonly do: 'firings'; readonly query: FiringsQuery }
  | { readonly do: 'processes'; readonly at: number }
  /** Ends a request; it is answered with an error. */
  | { readonly do: 'cancel'; readonly other: number }

/** Result of `open` and `open-remote`. */
export interface Opened {
  /** Name of the archive. */
  readonly base: string
  readonly host: string
  readonly start: number
  readonly end: number
  /** Bytes of all files, for an archive on a web server. */
  readonly bytes?: number
  /** See `Source`. */
  readonly firstWidth?: number
}

/** A response of the worker. */
export type Response =
  | { readonly id: number; readonly value: unknown }
  /** Bytes read so far, of all that are needed. */
  | { readonly id: number; readonly read: readonly [done: number, total: number] }
  /** Values of a range read so far. */
  | { readonly id: number; readonly part: ChartBytes }
  | { readonly id: number; readonly code: string; readonly message: string }

let archive: LocalArchive | undefined
/** Requests that can be cancelled. */
const running = new Map<number, AbortController>()

async function answer(id: number, request: Request): Promise<unknown> {
  if (request.do === 'open') {
    // Read in the worker, because reading would block the page and copy the data.
    const files = await Promise.all(
      request.files.map(async (file) => decompressed(file.name, new Uint8Array(await file.arrayBuffer()))),
    )
    archive = new LocalArchive(request.base, new Map(files))
    return { base: request.base, host: archive.host, ...archive.span } satisfies Opened
  }
  if (request.do === 'open-remote') {
    const remote = await openRemoteArchive(request.url, workerNetwork)
    archive = remote.archive
    const { base, bytes, firstWidth } = remote
    return { base, host: archive.host, bytes, firstWidth, ...archive.span } satisfies Opened
  }
  if (archive === undefined) throw new PcpError('PM_ERR_NOCONTEXT', 'No archive was opened')
  switch (request.do) {
    case 'names':
      return archive.names(request.match, request.offset, request.limit)
    case 'children':
      return archive.children(request.prefix)
    case 'metric':
      return archive.metric(request.name)
    case 'instances':
      return archive.instances(request.name, request.values)
    case 'check':
      return archive.check(request.expr)
    case 'excerpt':
      return archive.excerpt(request.start, request.finish)
    case 'changes':
      return archive.changes(request.query)
    case 'firings': {
      const mine = new AbortController()
      running.set(id, mine)
      return archive
        .firings(request.query, mine.signal, (...read) => postMessage({ id, read } satisfies Response))
        .finally(() => running.delete(id))
    }
    case 'cancel':
      return running.get(request.other)?.abort()
    case 'processes':
      return archive.processes(request.at)
    case 'range':
      return archive.range(request.query, (part) =>
        postMessage({ id, part } satisfies Response, { transfer: [part.buffer] }),
      )
  }
}

addEventListener(
  'message',
  ({ data: { id, request } }: MessageEvent<{ readonly id: number; readonly request: Request }>) => {
    answer(id, request).then(
      (value) => {
        const response = { id, value } satisfies Response
        postMessage(response, value instanceof Uint8Array ? { transfer: [value.buffer] } : {})
      },
      (error: unknown) => {
        const { code, message } = PcpError.from(error)
        postMessage({ id, code, message } satisfies Response)
      },
    )
  },
)
