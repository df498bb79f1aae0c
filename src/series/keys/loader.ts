/**
 * Loads metrics into a key server, in PCP's schema version 2.
 *
 *     KeyLoader.load(archive, path)                 everything that an archive has
 *     KeyLoader.source({ path, host, metadata })    metadata and records that arrive one at a time
 *       source.add(record)         the record's values, preceded by the metadata that they need
 *       source.metadataChanged()   after the metadata has grown
 *     KeyLoader.flush()                             waits until the server has acknowledged everything
 */

import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import { matchesGlob } from '../../base/glob.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { type Indom, indomStr, PM_INDOM_NULL } from '../../model/ids.ts'
import { LABEL_CONTEXT } from '../../model/labels.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { SeriesMetadata } from '../labels.ts'
import type { KeyClient } from './client.ts'
import { KeyPipeline } from './pipeline.ts'
import { SCHEMA, VERSION_KEY } from './schema.ts'
import { KeySource } from './source.ts'

/** Settings of a loader, named as in PCP's pmproxy.conf. */
export interface KeyLoaderOptions {
  /** Samples that are kept of each series, approximately; default 8640. `stream.maxlen` */
  readonly maxSamples?: number | undefined
  /** Seconds after its last sample for which a series' values are kept; default 86,400. `stream.expire` */
  readonly expireSeconds?: number | undefined
  /** Patterns of metrics to leave out, such as `proc.*`; default none. `exclude.metrics` */
  readonly excludeMetrics?: readonly string[] | undefined
  /** Instance domains to leave out, such as `3.9`; default none. `exclude.indoms` */
  readonly excludeIndoms?: readonly string[] | undefined
  /**
   * Loads archives with the labels of their host at their start, as PCP 6 does. Archives often get those shortly after; series then have
   * other identifiers than those of the same host that are loaded as they are recorded.
   */
  readonly usesFirstLabels?: boolean | undefined
  /** Most bytes on the way to the server; default 1 MB. */
  readonly mostBytes?: number | undefined
}

/** Where metadata and records are from. */
export interface KeySourceInfo {
  /** Path of the archive, without suffix, or host specification. */
  readonly path: string
  readonly host: string
  /** May grow: see `KeySource.metadataChanged`. */
  readonly metadata: SeriesMetadata
}

/** Which part of an archive to load. */
export interface LoadSelection {
  /** Inclusive. */
  readonly start?: Timestamp | undefined
  readonly finish?: Timestamp | undefined
  /** Identifiers of series; default all. */
  readonly series?: ReadonlySet<string> | undefined
  /** Metadata of the selected series alone, without values. */
  readonly onlyMetadata?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** Counts of loaded records and values. */
export interface LoadCount {
  records: number
  values: number
  /** Samples that the server had already, or for whose series it had later ones. */
  refused: number
}

const MAX_SAMPLES = 8640
const EXPIRE_SECONDS = 86_400

/** Loads archives and live records. Not for several callers at a time: await each call before the next. */
export class KeyLoader {
  readonly #pipeline: KeyPipeline
  readonly #isExcluded: (name: string, indom: Indom) => boolean
  readonly #usesFirstLabels: boolean
  readonly #maxSamples: number
  readonly #expireSeconds: number

  private constructor(client: KeyClient, options: KeyLoaderOptions) {
    this.#pipeline = new KeyPipeline(client, { mostBytes: options.mostBytes })
    const { excludeMetrics = [], excludeIndoms = [] } = options
    this.#isExcluded = (name, indom) =>
      excludeMetrics.some((pattern) => matchesGlob(pattern, name)) ||
      (indom !== PM_INDOM_NULL && excludeIndoms.includes(indomStr(indom)))
    this.#usesFirstLabels = options.usesFirstLabels ?? false
    this.#maxSamples = options.maxSamples ?? MAX_SAMPLES
    this.#expireSeconds = options.expireSeconds ?? EXPIRE_SECONDS
  }

  /** Checks or sets the version of the schema. PM_ERR_FEATURE for another version. */
  static async open(client: KeyClient, options: KeyLoaderOptions = {}): Promise<KeyLoader> {
    const version = await client.call('GET', VERSION_KEY)
    if (version === null) await client.call('SET', VERSION_KEY, SCHEMA)
    else checkSchema(client, version)
    return new KeyLoader(client, options)
  }

  /** Returns the writer of an archive that grows, or of a host. */
  source({ path, host, metadata }: KeySourceInfo): KeySource {
    return new KeySource(this.#pipeline, {
      path,
      host,
      metadata,
      isExcluded: this.#isExcluded,
      maxSamples: this.#maxSamples,
      expireSeconds: this.#expireSeconds,
    })
  }

  /**
   * Loads an archive; `path` is its name in the server. Resolves when the server has acknowledged everything. ENOSPC if the server is full,
   * the errors of connections after the patience of the client, those of `RecordReader` for damage.
   */
  async load(archive: Archive, path: string, selection: LoadSelection = {}): Promise<LoadCount> {
    const { start, finish, series, onlyMetadata = false, signal } = selection
    const metadata = this.#usesFirstLabels ? withFirstLabels(archive) : archive.metadata
    const source = this.source({ path, host: archive.label.hostname, metadata })
    if (series !== undefined) source.select(series)
    const count = { records: 0, values: 0, refused: 0 }
    const refusedBefore = this.#pipeline.refused
    source.begin()
    if (onlyMetadata) await source.addMetadata(archive.start)
    else {
      const reader = new RecordReader(archive)
      if (start !== undefined) reader.seek(start, 'forward')
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        signal?.throwIfAborted()
        if (finish !== undefined && compareTimes(record, finish) > 0) break
        count.records++
        count.values += source.write(record)
        const room = this.#pipeline.room()
        if (room !== undefined) await room
      }
    }
    await this.#pipeline.flush()
    count.refused = this.#pipeline.refused - refusedBefore
    return count
  }

  /** Waits until the server has acknowledged all that was added. The first error since. */
  async flush(): Promise<void> {
    await this.#pipeline.flush()
  }
}

function withFirstLabels({ metadata, start }: Archive): SeriesMetadata {
  return {
    descs: metadata.descs,
    labels: (query) => metadata.labels(query, query.level === LABEL_CONTEXT ? start : undefined),
    lookup: (name) => metadata.lookup(name),
    snapshotAt: (indom, at) => metadata.snapshotAt(indom, at),
    traverse: (name) => metadata.traverse(name),
  }
}

/** PM_ERR_FEATURE unless the version of the keys is the known one. */
export function checkSchema(client: KeyClient, version: unknown): void {
  if (String(version) === SCHEMA) return
  throw new PcpError(
    'PM_ERR_FEATURE',
    `Key server ${client.name} has version ${String(version)} of PCP's schema, and only version ${SCHEMA} is supported`,
  )
}
