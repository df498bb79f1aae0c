/** Reads the document of a source. docs/reference/agents/openmetrics.md */
import { fileURLToPath } from 'node:url'
import { PcpError } from '../../model/errors.ts'
import { yieldToEventLoop } from '../../sys/event-loop.ts'
import type { SourceFile } from './directory.ts'
import { readDocument, runScript } from './documents.ts'
import { ExpositionReader, type LabelCache } from './exposition.ts'
import type { HttpClient } from './http-get.ts'
import { MAX_DOCUMENT, MAX_SAMPLES } from './limits.ts'
import type { SourceConfig } from './source-config.ts'

/** Options of a probe. */
export interface ProbeOptions {
  readonly client: HttpClient
  readonly signal: AbortSignal
  /** Called with lines of a script's standard error. */
  readonly warn: (text: string) => void
}

/** Result of a probe: an HTTP status (0 without one), and the document or the error. */
export interface ProbeResult {
  readonly status: number
  readonly document: string | PcpError
}

/** Characters parsed before yielding to the event loop, a few milliseconds. */
const STRETCH = 64 * 1024

/** Fetches a document. Never rejects. */
export async function probe(
  file: SourceFile,
  config: SourceConfig,
  options: ProbeOptions,
): Promise<ProbeResult> {
  const { client, signal, warn } = options
  const limits = { signal, maxBytes: MAX_DOCUMENT }
  try {
    if (file.isScript) return { status: 0, document: await runScript(file.path, limits, warn) }
    if (config.url === '') throw new PcpError('EINVAL', 'The file has no usable URL')
    if (config.url.startsWith('file:'))
      return { status: 0, document: await readDocument(fileURLToPath(config.url), limits) }
    const { status, text } = await client.get(config.url, { ...limits, headers: config.headers })
    if (status >= 200 && status < 300) return { status, document: text }
    return { status, document: new PcpError('PM_ERR_GENERIC', `The server answered with status ${status}`) }
  } catch (error) {
    return { status: 0, document: PcpError.from(error) }
  }
}

/** Parses a document in steps, between which requests are served. */
export async function readExposition(text: string, cache: LabelCache): Promise<ExpositionReader> {
  const reader = new ExpositionReader(MAX_SAMPLES, cache)
  for (let start = 0; start < text.length; ) {
    const newline = start + STRETCH < text.length ? text.indexOf('\n', start + STRETCH) : -1
    const end = newline < 0 ? text.length : newline + 1
    reader.read(text.slice(start, end))
    start = end
    if (start < text.length) await yieldToEventLoop()
  }
  return reader
}
