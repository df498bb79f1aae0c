/**
 * Compares our tools for archive files with the reference's over the archives of its test suite: output, messages and status. Each
 * command line uses a share of the archives that changes daily (CONTRIBUTING.md: Random tests).
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sortBlocks } from './lib/dump-order.ts'
import { hasReference, plainEnv, top } from './lib/programs.ts'
import { archivesOf, FOLDERS, hasSuite, suiteFolder } from './lib/suite.ts'

const hasArchives = hasReference && hasSuite
/** One archive in this many is compared, unless the run is exhaustive. */
const SHARE = 12
if (!hasArchives) console.log('skipped: the archives of the reference are not installed')

/** The command lines, and which parts of their output may be in another order. */
const COMMANDS: readonly (readonly [tool: string, options: string, order: 'same' | 'blocks' | 'lines'])[] = [
  ['pmdumplog', '-a', 'blocks'],
  ['pmdumplog', '-I -h', 'blocks'],
  ['pmdumplog', '-lrsxxx', 'blocks'],
  ['pmlogsummary', '', 'same'],
  ['pmlogsummary', '-aiI', 'same'],
  ['pmlogsummary', '-z', 'same'],
  ['pmlogcheck', '', 'lines'],
  ['pmloglabel', '-L', 'same'],
  ['pmlogsize', '-r', 'same'],
]

/** Known differences: patterns of `tool options archive`, with the reason. */
const KNOWN: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /(960624\.08\.17_v2|babylon\.pmview_v2|bozo\.client_v2)$/,
    'blocks without a type: the reference swaps bytes',
  ],
  [/pmdumplog -a (bigace_v2|old611)$/, 'instance domains at one moment, others between equal ones'],
  [/badti-4$/, 'an index that points between records is ignored'],
  [/archive-20150417\.131733$/, 'the end is found despite damage'],
  [/pmlogcheck {2}(badlog-4|badmeta-[67])$/, 'times of metadata are checked'],
  [/pmlogcheck {2}bozo\.client_v2\.meta\.bad$/, 'another one of two wrong record lengths is reported'],
  [/pmloglabel -L (541380|951127\.23\.01|960624\.08\.17|ace|babylon\.percpu|babylon\.pmview)$/, 'version 1'],
  [/pmloglabel -L (bigace|bozo\.client|bug|err_v1|empty|badlabel-2)$/, 'no label is invented'],
  [/pmlogsize .*_v3$/, 'records of version 3 are misread as larger, and abort -r'],
  [/pmlogsize .*ace_v2$/, 'the reference crashes'],
  [/pmlogsummary .*(20201109|all-sles9-sp1)$/, 'first values that are NaN'],
  [/pmlogsummary .*value-test$/, 'the sign of NaN'],
  [
    /(pmdumplog|pmlogsummary|pmloglabel) .*badlen-9$/,
    'incomplete metadata is read up to the incomplete record',
  ],
]

/** Longer output is compared as bytes: it does not fit into a string. */
const MOST_BYTES = 2 ** 28
/** Archives that take either side more than half a minute to decompress. */
const SLOW = /^(20180416\.10\.00|20130706)$/

interface Ran {
  readonly stdout: Buffer
  readonly stderr: string
  readonly status: number | null
}

function run(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: plainEnv(), cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const parts: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (status) => resolve({ stdout: Buffer.concat(parts), stderr, status }))
  })
}

function inOrder({ stdout, stderr }: Ran, order: 'same' | 'blocks' | 'lines'): string {
  if (stdout.length > MOST_BYTES) return `${createHash('sha256').update(stdout).digest('hex')}\n${stderr}`
  // The reference's pmlogsize prints these lines for labels and texts in metadata, which it does not support in detail.
  const text = stdout.toString('latin1').replace(/^(?:LABEL|TEXT): TODO.*\n/gm, '')
  if (order === 'lines') return `${text}${stderr.split('\n').sort().join('\n')}`
  return `${order === 'blocks' ? sortBlocks(text) : text}${stderr}`
}

function firstDifference(ours: string, theirs: string): string {
  const [a, b] = [ours.split('\n'), theirs.split('\n')]
  const i = a.findIndex((line, k) => line !== b[k])
  return `${(a[i] ?? '').slice(0, 150)} | ${(b[i < 0 ? a.length : i] ?? '').slice(0, 150)}`
}

describe.skipIf(!hasArchives)('archive tools beside the reference', () => {
  for (const [index, [tool, options, order]] of COMMANDS.entries()) {
    it(`${tool} ${options}: the same, or listed`, { timeout: 3_600_000 }, async () => {
      let [archives, lines, same] = [0, 0, 0]
      const listed: string[] = []
      const different: string[] = []
      const check = async (cwd: string, name: string): Promise<void> => {
        const args = [...options.split(' ').filter((word) => word !== ''), name]
        const [theirs, ours] = await Promise.all([
          run(tool, args, cwd),
          run(join(top, 'bin', tool), args, cwd),
        ])
        const [expected, got] = [inOrder(theirs, order), inOrder(ours, order)]
        archives++
        lines += expected.split('\n').length
        if (ours.status === theirs.status && got === expected) same++
        else if (KNOWN.some(([pattern]) => pattern.test(`${tool} ${options} ${name}`))) listed.push(name)
        else different.push(`${name} (${ours.status}, ${theirs.status}): ${firstDifference(got, expected)}`)
      }
      // For damaged archives the reference's pmlogsize prints partial results with status 0, or crashes; ours reports the error.
      for (const folder of tool === 'pmlogsize' ? FOLDERS.slice(0, 1) : FOLDERS)
        for (const name of archivesOf(folder, SHARE, index))
          if (!SLOW.test(name)) await check(suiteFolder(folder), name)
      console.log(
        `${tool} ${options}: ${archives} archives, ${lines} lines, ${same} the same, listed: ${listed.join(' ')}`,
      )
      expect(different).toEqual([])
    })
  }
})
