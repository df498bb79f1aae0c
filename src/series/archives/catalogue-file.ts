/**
 * Catalogues of a directory tree on disk, so that a query need not read the metadata of all archives. docs/formats/catalogue.md
 *
 *     pcp-ts-catalogue 1 DIGEST \n   header as JSON \n   parts         DIGEST: of what follows
 */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Timestamp } from '../../base/timestamp.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { type CataloguePart, type PartPool, partsOf } from './parts.ts'

const NAME = '.pcp-ts-catalogue'
const VERSION = 'pcp-ts-catalogue 1'
/** Larger files are ignored. */
const MOST_BYTES = 512 << 20

/** The stored facts about an archive. */
export interface CatalogueEntry {
  /** Of its metadata file; the entry is void once it has changed. */
  readonly stamp: string
  readonly start: Timestamp
  /** Digest of its `CataloguePart`. */
  readonly catalogue: string
}

/** Contents of the first lines. */
interface Header {
  readonly archives: readonly (readonly [
    base: string,
    stamp: string,
    sec: number,
    nsec: number,
    catalogue: string,
  ])[]
  readonly parts: readonly (readonly [digest: string, length: number])[]
}

/** Returns the paths at which a tree's catalogue may be: in the tree, and for trees that cannot be written to in a cache directory. */
export function cataloguePaths(directory: string, cacheDir: string | undefined): readonly string[] {
  const name = `catalogue-${createHash('sha1').update(directory).digest('hex')}`
  return [join(directory, NAME), ...(cacheDir === undefined ? [] : [join(cacheDir, name)])]
}

/** Returns the entries of a file, whose parts are added to the pool; none for a missing, damaged or foreign file. */
export function readCatalogue(
  path: string,
  directory: string,
  pool: PartPool,
): ReadonlyMap<string, CatalogueEntry> {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isFile() || stats.size > MOST_BYTES) return new Map()
    const bytes = readFileSync(path)
    const first = bytes.indexOf(10)
    const second = bytes.indexOf(10, first + 1)
    if (bytes.toString('latin1', 0, first) !== `${VERSION} ${digestOf(bytes.subarray(first + 1))}`)
      return new Map()
    const { archives, parts } = JSON.parse(bytes.toString('utf8', first + 1, second)) as Header
    let at = second + 1
    for (const [digest, length] of parts) {
      pool.addText(digest, bytes.subarray(at, at + length))
      at += length
    }
    return new Map(
      archives
        .filter((each) => pool.has(each[4]))
        .map(([base, stamp, sec, nsec, catalogue]) => [
          join(directory, base),
          { stamp, start: { sec, nsec }, catalogue },
        ]),
    )
  } catch {
    return new Map()
  }
}

/** Replaces the file by one with these entries, at the first path that can be written to; returns that path. */
export function writeCatalogue(
  paths: readonly string[],
  directory: string,
  entries: ReadonlyMap<string, CatalogueEntry>,
  pool: PartPool,
): string | undefined {
  const digests = new Set<string>()
  for (const { catalogue } of entries.values()) {
    if (digests.has(catalogue)) continue
    digests.add(catalogue)
    for (const each of partsOf(pool.get<CataloguePart>(catalogue))) if (pool.has(each)) digests.add(each)
  }
  const texts = [...digests].map((digest) => pool.text(digest))
  const header: Header = {
    archives: [...entries].map(([base, { stamp, start, catalogue }]) => [
      base.slice(directory.length + (directory.endsWith('/') ? 0 : 1)),
      stamp,
      start.sec,
      start.nsec,
      catalogue,
    ]),
    parts: [...digests].map((digest, i) => [digest, texts[i]!.length]),
  }
  const body = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...texts])
  const bytes = Buffer.concat([Buffer.from(`${VERSION} ${digestOf(body)}\n`), body])
  for (const [i, path] of paths.entries()) {
    try {
      // Only the cache directory may be missing.
      if (i > 0) mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      replaceFile(path, bytes)
      return path
    } catch {
      // The next place is tried; without any, the next process reads the metadata again.
    }
  }
  return undefined
}

function digestOf(text: Buffer): string {
  return createHash('sha1').update(text).digest('base64')
}
