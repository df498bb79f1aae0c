/** Decompression in the browser: of several files, within a bound for all. */
import { afterEach, expect, test, vi } from 'vitest'
import { decompressedAll, subjectOf } from '../../src/ui/data/decompress.ts'

const KIB = 1024

async function file(i: number): Promise<readonly [string, Uint8Array<ArrayBuffer>]> {
  const plain = new Blob([new Uint8Array(100 * KIB).fill(i)])
  const stream = plain.stream().pipeThrough(new CompressionStream('gzip'))
  return [`a.${i}.gz`, new Uint8Array(await new Response(stream).arrayBuffer())]
}

afterEach(() => void vi.unstubAllGlobals())

test('files have the rest of the room each, one after the other', async () => {
  let begun = 0
  vi.stubGlobal(
    'DecompressionStream',
    class extends DecompressionStream {
      constructor(format: 'gzip') {
        super(format)
        begun++
      }
    },
  )
  const files = await Promise.all(Array.from({ length: 20 }, (_, i) => file(i)))
  const contents = await decompressedAll(files.slice(0, 2), 200 * KIB)
  expect([...contents].map(([name, { length }]) => [name, length])).toEqual([
    ['a.0', 100 * KIB],
    ['a.1', 100 * KIB],
  ])
  begun = 0
  await expect(decompressedAll(files, 250 * KIB)).rejects.toThrow(
    'a.0.gz and 19 more files are too large for a page to decompress',
  )
  // The third is stopped, and no other is begun.
  expect(begun).toBe(3)
})

test('a damaged file is reported as such', async () => {
  await expect(decompressedAll([['a.0.gz', new Uint8Array(9)]], KIB)).rejects.toThrow(
    'a.0.gz cannot be decompressed',
  )
})

test('one file, two and more are worded', () => {
  expect([['a'], ['a', 'b'], ['a', 'b', 'c']].map(subjectOf)).toEqual([
    'a is',
    'a and 1 more file are',
    'a and 2 more files are',
  ])
})
