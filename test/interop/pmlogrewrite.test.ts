/**
 * Compares pmlogrewrite with the reference, as shown by its pmdumplog, over a daily changing share of the archives of PCP's own tests
 * (CONTRIBUTING.md: Random tests).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tool as pmdumplog } from '../../src/tools/pmlogdump/index.ts'
import { tool } from '../../src/tools/pmlogrewrite/index.ts'
import { testIo } from '../tools/run-tool.ts'
import { sortBlocks } from './lib/dump-order.ts'
import { run } from './lib/programs.ts'
import { archivesOf, hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmlogrewrite'
const canCompare = hasSuite && existsSync(REFERENCE)
if (!canCompare) console.log(`skipped: the archives of the reference or ${REFERENCE} are not installed`)

/** One archive in this many. */
const SHARE = 12
/** Archives larger than this take too long for a share. */
const MOST_BYTES = 3_000_000

interface Case {
  readonly args: readonly string[]
  readonly rules: string
}

const CASES: Readonly<Record<string, Case>> = {
  copy: { args: [], rules: 'global { }' },
  'version 3': { args: ['-V', '3'], rules: 'global { }' },
  label: { args: [], rules: 'global { hostname -> foo.bar tz -> "UTC" }' },
  sample: {
    args: ['-s'],
    rules: `metric sample.colour { type -> double }
      metric sample.bin { indom -> NULL output avg }
      metric sample.seconds { pmid -> 29.0.999 units -> 0,1,0,0,MSEC,0 type -> u64 }
      metric 60.0.* { pmid -> 61.0.* }
      metric sample.drift { delete }
      indom 29.1 { inst 0 -> 77 iname "green" -> "vert" }`,
  },
  linux: {
    args: ['-s'],
    rules: `metric kernel.all.load { indom -> NULL output max type -> double }
      metric 60.0.* { pmid -> 61.*.* }
      metric mem.util.free { units -> 1,0,0,BYTE,0,0 type if U64 -> double }
      metric kernel.all.cpu.user { sem -> instant }
      metric disk.dev.read { indom -> NULL output sum }
      metric kernel.all.pswitch { type -> float }
      indom 60.1 { inst 0 -> delete inst 1 -> 99 }`,
  },
}

/** Cases of objects that move with their metrics, and of labels. Rules name single labels, because the reference splits sets. */
const MOVES: Readonly<Record<string, Case>> = {
  renumbered: {
    args: ['-v'],
    rules:
      'metric 60.*.* { pmid -> 127.*.* } metric 29.*.* { pmid -> 128.*.* } metric 3.*.* { pmid -> 126.*.* }',
  },
  labels: {
    args: [],
    rules: `label domain 60 "agent" "linux" { label -> "from" }
      label domain 3 "agent" * { value -> 12.5e3 }
      label domain 29 "agent" { value -> null }
      label domain 4 { domain -> 5 }
      label item 60.0.* "device_type" "cpu" { value -> "\\u0063\\"pu" }`,
  },
}

/** Errors of the reference, or differences of its index only; details in docs/explanation/differences.md. */
const KNOWN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^20180102 /, 'the reference damages names of rewritten instances'],
  [/^bigace_v2 version 3$/, 'the reference leaves out some instance domains'],
]

/** Sorts a dump, without the index, which in ours has the input's entries. */
function comparable(dump: string, base: string): string {
  return sortBlocks(dump.replaceAll(base, 'ARCHIVE').replace(/\nTemporal Index\n(.+\n)*/, '\n'))
}

async function dumpByReference(base: string): Promise<string> {
  const { stdout } = await run('/usr/bin/pmdumplog', ['-z', '-a', base], { env: { TZ: 'UTC' } })
  return comparable(stdout, base)
}

async function dumpByOurs(base: string): Promise<string> {
  const io = testIo('pmdumplog', ['-z', '-a', base])
  await pmdumplog.run(io)
  return comparable(io.printed.stdout, base)
}

/**
 * Returns the lines of two archives' dumps if they are the same, otherwise undefined. The reference misreads long series of changes of a
 * domain in version 3, and may crash; then both are compared as ours reads them.
 */
async function linesInBoth(ours: string, theirs: string, isVersion3: boolean): Promise<number | undefined> {
  for (const dump of isVersion3 ? [dumpByReference, dumpByOurs] : [dumpByReference]) {
    const expected = await dump(theirs)
    if ((await dump(ours)) === expected) return expected.split('\n').length
  }
  return undefined
}

test.runIf(canCompare)(
  'the same rules produce the same archives',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'rewrite-interop-'))
    const config = join(dir, 'rules')
    const different: string[] = []
    const counts = { archives: 0, runs: 0, refused: 0, lines: 0 }
    try {
      for (const name of archivesOf('archives', SHARE, 5)) {
        const input = join(suiteFolder('archives'), name)
        if (!existsSync(`${input}.0`) || readFileSync(`${input}.0`).length > MOST_BYTES) continue
        counts.archives++
        for (const [which, { args, rules }] of Object.entries({ ...CASES, ...MOVES })) {
          writeFileSync(config, rules)
          const out = mkdtempSync(join(dir, 'case-'))
          const [ours, theirs] = [join(out, 'ours'), join(out, 'theirs')]
          const { status } = await run(REFERENCE, [...args, '-c', config, input, theirs], {
            env: { TZ: 'UTC' },
          })
          const io = testIo('pmlogrewrite', [...args, '-c', config, input, ours])
          const own = await tool.run(io)
          counts.runs++
          // The reference crashes instead of reporting an error.
          if (status !== 0) counts.refused++
          else if (!KNOWN.some(([pattern]) => pattern.test(`${name} ${which}`))) {
            const lines = await linesInBoth(ours, theirs, which === 'version 3')
            counts.lines += lines ?? 0
            if (own !== 0 || lines === undefined) different.push(`${name} ${which} ${io.printed.stderr}`)
          }
          rmSync(out, { recursive: true })
        }
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
    const { archives, runs, refused, lines } = counts
    console.log(
      `pmlogrewrite: ${archives} archives, ${runs} runs, ${refused} refused by the reference, ${lines} lines equal`,
    )
    expect(different).toEqual([])
    expect(lines).toBeGreaterThan(0)
  },
  600_000,
)
