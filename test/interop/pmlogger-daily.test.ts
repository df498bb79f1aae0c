/**
 * Compares a night's work of pmlogger_daily with the reference: directories with parts of three days, made from a daily changing share of
 * the archives of PCP's own tests (CONTRIBUTING.md: Random tests).
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { isError } from '../../src/model/errors.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { tool as pmlogextract } from '../../src/tools/pmlogextract/index.ts'
import { bundleTools } from '../lib/bundle-tools.ts'
import { testIo } from '../tools/run-tool.ts'
import { sortBlocks } from './lib/dump-order.ts'
import { run } from './lib/programs.ts'
import { archivesOf, hasEvents, hasSuite, suiteFolder } from './lib/suite.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmlogger_daily'
const canCompare = hasSuite && existsSync(REFERENCE) && process.geteuid?.() === 0
if (!canCompare)
  console.log(`skipped: ${REFERENCE} or the archives of the reference are not installed, or we are not root`)

const TOOLS = {
  pmlogger_daily: 'pmlogger_daily/index.ts',
  pmlogger_merge: 'pmlogger_merge.ts',
  pmlogextract: 'pmlogextract/index.ts',
  pmlogmv: 'pmlogmv.ts',
  pmlogcompress: 'pmlogcompress.ts',
}
/** One archive in this many. */
const SHARE = 56
/** Archives larger than this take too long for a share. */
const MOST_BYTES = 1_000_000
const DAY_MS = 86_400_000
const PARTS = ['00.10', '09.30', '18.45'] as const

function dayOf(age: number): string {
  const t = new Date(Date.now() - age * DAY_MS)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${t.getFullYear()}${two(t.getMonth() + 1)}${two(t.getDate())}`
}

/** Splits an archive into three parts of a day; false if it is too short. */
async function split(input: string, dir: string, day: string): Promise<boolean> {
  const archive = Archive.open(input, archiveFiles())
  const [start, end] = [archive.start, archive.end()]
  archive.close()
  if (isError(end)) return false
  // The pmlogextract of the reference merges out of order what begins in the first second of 1970.
  if (start.sec === 0) return false
  const third = (end.sec - start.sec) / PARTS.length
  if (third < 1) return false
  for (const [i, time] of PARTS.entries()) {
    // A millisecond apart, so that no record is in two parts.
    const from = i === 0 ? [] : ['-S', `+${(i * third + 0.001).toFixed(3)}sec`]
    const to = i === PARTS.length - 1 ? [] : ['-T', `+${(i === 0 ? third : third - 0.001).toFixed(3)}sec`]
    const io = testIo('pmlogextract', [...from, ...to, input, join(dir, `${day}.${time}`)])
    if ((await pmlogextract.run(io)) !== 0) return false
  }
  return true
}

async function dumpOf(base: string): Promise<string> {
  const { stdout } = await run('/usr/bin/pmdumplog', ['-z', '-a', base], { env: { TZ: 'UTC' } })
  return sortBlocks(stdout.replaceAll(base, 'ARCHIVE').replace(/\nTemporal Index\n(.+\n)*/, '\n')).replace(
    /PID for pmlogger: \d+/,
    'PID',
  )
}

test.runIf(canCompare)(
  'directories are the same after the run',
  async () => {
    const top = mkdtempSync(join(tmpdir(), 'daily-interop-'))
    const programs = join(top, 'bin')
    mkdirSync(programs)
    const different: string[] = []
    const counts = { archives: 0, days: 0, lines: 0 }
    try {
      await bundleTools(programs, TOOLS)
      for (const name of Object.keys(TOOLS)) {
        writeFileSync(
          join(programs, name),
          `#!/bin/sh\nexec ${process.execPath} ${programs}/${name}.cjs "$@"\n`,
        )
        chmodSync(join(programs, name), 0o755)
      }
      const names: string[] = []
      for (const name of archivesOf('archives', SHARE, 3)) {
        const input = join(suiteFolder('archives'), name)
        // The reference drops the descriptors of event parameters: docs/explanation/differences.md.
        if (hasEvents(input)) continue
        if (!existsSync(`${input}.0`) || statSync(`${input}.0`).size > MOST_BYTES) continue
        let isWhole = true
        for (const side of ['ours', 'theirs']) {
          const dir = join(top, side, name)
          mkdirSync(dir, { recursive: true })
          for (const age of [1, 2]) isWhole &&= await split(input, dir, dayOf(age))
          if (!isWhole) rmSync(dir, { recursive: true })
        }
        if (isWhole) names.push(name)
      }
      counts.archives = names.length
      for (const side of ['ours', 'theirs']) {
        const lines = names.map((name) => `host-${name} n n ${join(top, side, name)} -c none`)
        writeFileSync(join(top, `${side}.control`), `$version=1.1\n${lines.join('\n')}\n`, { mode: 0o644 })
      }
      const args = (side: string): string[] => [
        '-c',
        join(top, `${side}.control`),
        '-l',
        join(top, `${side}.log`),
        '-r',
        '-x',
        'never',
        '-k',
        'never',
        '-D',
      ]
      const env = { PCP_LOG_DIR: join(top, 'log'), TZ: 'UTC' }
      mkdirSync(join(top, 'log', 'pmlogger'), { recursive: true })
      const timeoutMs = 500_000
      await run(REFERENCE, args('theirs'), { env, timeoutMs })
      await run(process.execPath, [join(programs, 'pmlogger_daily.cjs'), ...args('ours')], { env, timeoutMs })
      for (const name of names) {
        const [ours, theirs] = [join(top, 'ours', name), join(top, 'theirs', name)]
        const list = readdirSync(theirs).sort()
        if (readdirSync(ours).sort().join(' ') !== list.join(' '))
          different.push(`${name}: ${readdirSync(ours).sort().join(' ')} in place of ${list.join(' ')}`)
        for (const day of [1, 2].map(dayOf).filter((one) => list.includes(`${one}.meta`))) {
          counts.days++
          const dump = await dumpOf(join(theirs, day))
          counts.lines += dump.split('\n').length
          if ((await dumpOf(join(ours, day))) !== dump) different.push(`${name} ${day}`)
        }
      }
      if (different.length > 0) console.log(readFileSync(join(top, 'ours.log'), 'utf8').slice(0, 4000))
    } finally {
      if (process.env['KEEP'] === undefined) rmSync(top, { recursive: true })
      else console.log(top)
    }
    const { archives, days, lines } = counts
    console.log(`pmlogger_daily: ${archives} directories, ${days} days merged, ${lines} lines equal`)
    expect(different).toEqual([])
    expect(lines).toBeGreaterThan(0)
  },
  900_000,
)
