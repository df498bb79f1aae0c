/** Archives from local files, which are never sent to a server, and from web servers; both are read in a worker. */
import { decodeChartRange } from '../../archive/chart-bytes.ts'
import { onAbort } from '../../base/on-abort.ts'
import { addSource, show, showNotice } from '../page.ts'
import { urlKey } from '../view/view.ts'
import type { Opened, Request, Response } from './archive-worker.ts'
import { batched } from './batch.ts'
import type { ChartBytes } from './local-archive.ts'
import { remembered } from './remembered.ts'
import { type CheckAnswer, RequestError } from './responses.ts'
import type { Source } from './source.ts'

/** Matches names of archive files, compressed or not. */
const ARCHIVE_FILE = /\.(meta|index|\d+)(\.(xz|lzma|gz|bz2|zst|Z))?$/

/** Opens all complete archives among `files`. Throws if there is none. */
export async function openLocalArchives(files: readonly File[]): Promise<void> {
  const parts = files.filter(({ name }) => ARCHIVE_FILE.test(name))
  const bases = [...new Set(parts.map(({ name }) => name.replace(ARCHIVE_FILE, '')))]
  if (bases.length === 0)
    throw new RequestError('These are not archive files; drop NAME.meta, NAME.index and NAME.0, NAME.1 …')
  for (const base of bases) {
    const own = parts.filter(({ name }) => name.replace(ARCHIVE_FILE, '') === base)
    if (!own.some(({ name }) => name.startsWith(`${base}.meta`)))
      throw new RequestError(`${base}.meta is missing; drop all files of the archive together`)
    await openArchiveFiles(base, own)
    showNotice(`Opened ${base} in this browser`)
  }
}

/** Opens an archive from its files, compressed or not, and shows it. Throws RequestError. */
export async function openArchiveFiles(base: string, files: readonly File[]): Promise<void> {
  const source = await openInWorker({ do: 'open', base, files }, `file:${base}`)
  addSource(source)
  show(source.key)
}

/** Opens an archive on a web server, of which the worker reads only the needed parts. Throws RequestError. */
export async function openRemote(url: string): Promise<Source> {
  const source = await openInWorker({ do: 'open-remote', url }, urlKey(url))
  addSource(source)
  return source
}

/** Returns the URL of the worker script, which the build puts into the page. */
function workerUrl(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="archive-worker"]')!.content
}

type OnRead = (done: number, total: number) => void
/** Callbacks of a request, and the signal that ends it. */
interface Watch {
  readonly onPart?: (bytes: ChartBytes) => void
  readonly onRead?: OnRead | undefined
  readonly signal?: AbortSignal | undefined
}
type Ask = (request: Request, watch?: Watch) => Promise<never>

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  readonly watch: Watch
  /** Stops listening to the signal of the request. */
  readonly unlink: () => void
}

async function openInWorker(
  request: Extract<Request, { do: 'open' | 'open-remote' }>,
  key: string,
): Promise<Source> {
  const worker = new Worker(workerUrl())
  const waiting = new Map<number, Waiting>()
  let asked = 0
  worker.onmessage = ({ data }: MessageEvent<Response>) => {
    const asking = waiting.get(data.id)
    if (asking === undefined) return // already rejected because the worker failed
    const { resolve, reject, watch } = asking
    if ('part' in data) return watch.onPart?.(data.part)
    if ('read' in data) return watch.onRead?.(...data.read)
    waiting.delete(data.id)
    asking.unlink()
    if ('message' in data) reject(new RequestError(data.message, data.code))
    else resolve(data.value as never)
  }
  worker.onerror = ({ message }) => {
    for (const { reject } of waiting.values())
      reject(new RequestError(`The archive could not be read: ${message}`))
    waiting.clear()
  }
  const ask: Ask = (request, watch = {}) =>
    new Promise((resolve, reject) => {
      const id = ++asked
      const unlink = onAbort(watch.signal, () => void ask({ do: 'cancel', other: id }))
      waiting.set(id, { resolve, reject, watch, unlink })
      worker.postMessage({ id, request })
    })
  let opened: Opened
  try {
    opened = await ask(request)
  } catch (error) {
    worker.terminate()
    throw error
  }
  return {
    key,
    title: `${opened.host} · ${opened.base}`,
    ...(opened.bytes === undefined
      ? {}
      : { isRemote: true, bytes: opened.bytes, firstWidth: opened.firstWidth! }),
    host: opened.host,
    span: { start: opened.start, end: opened.end },
    names: (match, offset, limit) => ask({ do: 'names', match, offset, limit }),
    children: (prefix) => ask({ do: 'children', prefix }),
    metric: (name) => ask({ do: 'metric', name }),
    instances: (name, values = false) => ask({ do: 'instances', name, values }),
    check: (expr): Promise<CheckAnswer> => ask({ do: 'check', expr }),
    range: remembered(
      batched(async (query, onPart) =>
        decodeChartRange(
          await ask({ do: 'range', query }, { onPart: (bytes) => onPart(decodeChartRange(bytes)) }),
        ),
      ),
      opened.end,
    ),
    excerpt: (start, finish) => ask({ do: 'excerpt', start, finish }),
    changes: (query) => ask({ do: 'changes', query }),
    firings: (query, signal, onRead) => ask({ do: 'firings', query }, { signal, onRead }),
    processes: (at) => ask({ do: 'processes', at: at ?? opened.end }),
    close: () => worker.terminate(),
  }
}
