/** Hostile archives: small files that expand enormously or take long to decompress. docs/decisions/decompression.md */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { archive } from '../archive/build.ts'
import { bzip2Streams, gzipBomb, lzwBomb, zstdBomb } from '../lib/bombs.ts'
import { bundleTools } from '../lib/bundle-tools.ts'
import { runProgram } from '../lib/tool-process.ts'

const MIB = 2 ** 20

let dir: string
/** Temporary files of the commands. */
let scratch: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-bombs-'))
  scratch = join(dir, 'tmp')
  mkdirSync(scratch)
  await bundleTools(dir, {
    pminfo: 'pminfo/index.ts',
    pmlogextract: 'pmlogextract/index.ts',
  })
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Creates an archive with valid metadata and a bomb as first volume. */
function place(name: string, suffix: string, volume: Uint8Array): string {
  const path = join(dir, name)
  mkdirSync(path)
  const whole = archive('a', { volumes: [[]] })
  writeFileSync(join(path, 'a.meta'), whole['a.meta']!)
  writeFileSync(join(path, `a.0${suffix}`), volume)
  return join(path, 'a')
}

interface Bomb {
  readonly suffix: string
  readonly make: () => Uint8Array | Promise<Uint8Array>
  /** False if the bomb expands to nothing. */
  readonly hasContent: boolean
}

const BOMBS: Readonly<Record<string, Bomb>> = {
  'of Zstandard: 222 KB that are 7 GB': { suffix: '.zst', make: () => zstdBomb(56_000), hasContent: true },
  'of Zstandard: blocks of one byte below a window of 128 MB': {
    suffix: '.zst',
    make: () => zstdBomb(56_000, 1, 27),
    hasContent: true,
  },
  'of gzip: 300 KB that are 300 MB': { suffix: '.gz', make: () => gzipBomb(300), hasContent: true },
  'of compress: 120 KB that are 1.8 GB': { suffix: '.Z', make: () => lzwBomb(60_000), hasContent: true },
  'of bzip2: a million bytes that are nothing': {
    suffix: '.bz2',
    make: () => bzip2Streams(70_000),
    hasContent: false,
  },
}

test.each(Object.entries(BOMBS))(
  'a file %s ends with an error, little memory and no file',
  async (name, bomb) => {
    const path = place(name.replaceAll(/\W/g, '-'), bomb.suffix, await bomb.make())
    for (const [tool, ...args] of [
      ['pminfo', '-a', path],
      ['pmlogextract', path, join(dir, `out-${name.length}`)],
    ]) {
      const run = await runProgram(join(dir, `${tool}.cjs`), args, {
        env: { TMPDIR: scratch, PCP_DECOMPRESS_SEC: '1' },
      })
      expect(run.status, run.stderr).toBe(1)
      if (bomb.hasContent) {
        expect(run.stderr).toMatch(/cannot open archive/i)
        expect(run.stderr).toContain(`a.0${bomb.suffix}: cannot be decompressed`)
        expect(run.stderr).toMatch(/set PCP_DECOMPRESS_(?:MB|SEC)/)
      }
      expect(run.peakBytes!).toBeLessThan(300 * MIB)
    }
    expect(readdirSync(scratch)).toEqual([])
  },
)
