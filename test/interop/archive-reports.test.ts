/** Compares pmstat, pmevent and pmdiff over archives of PCP's own tests with the reference's, line by line. */
import { describe, expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pmdiff } from '../../src/tools/pmdiff/index.ts'
import { tool as pmstat } from '../../src/tools/pmstat/index.ts'
import { tool as pmval } from '../../src/tools/pmval/index.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { VARIED_ARCHIVES } from './lib/report-archives.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

if (!hasSuite) console.log('skipped: the archives of the reference are not installed')

const archive = (name: string): string => `${suiteFolder('archives')}/${name}`

interface Case {
  readonly tool: Tool
  readonly name: string
  readonly args: readonly string[]
}

/** Runs both; returns lines that differ after `plain` has removed intended differences. */
async function differences(
  cases: readonly Case[],
  plain: (text: string) => string = (text) => text,
): Promise<string[]> {
  const found: string[] = []
  let lines = 0
  for (const { tool, name, args } of cases) {
    const theirs = await run(`/usr/bin/${name}`, args, { env: { PCP_DERIVED_CONFIG: '' } })
    const ours = await runOurs(tool, name, args)
    lines += theirs.stdout.split('\n').length
    const [a, b] = [
      plain(ours.stdout + ours.stderr).split('\n'),
      plain(theirs.stdout + theirs.stderr).split('\n'),
    ]
    const i =
      a.length > b.length ? a.findIndex((line, k) => line !== b[k]) : b.findIndex((line, k) => line !== a[k])
    if (i >= 0) found.push(`${name} ${args.join(' ')}\n  ours:   ${a[i]}\n  theirs: ${b[i]}`)
  }
  console.log(`${cases[0]!.name}: ${cases.length} runs, ${lines} lines, ${found.length} runs differ`)
  return found
}

/** Runs our tool; like the installed release, it interpolates from the earlier observation. */
async function runOurs(
  tool: Tool,
  name: string,
  args: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  const earlier: typeof openArchive = (list, options) => openArchive(list, { ...options, nearest: false })
  const io = { ...testIo(name, args, { PCP_DERIVED_CONFIG: '' }), cwd: process.cwd() }
  try {
    await tool.run({ ...io, openArchive: earlier, commands: async () => TOOLS })
  } catch (error) {
    io.stderr.write(`${name}: ${(error as Error).message}\n`)
  }
  return io.printed
}

describe.skipIf(!hasSuite)('reports over archives', () => {
  test('pmstat', async () => {
    const manners = [
      ['-t', '2sec', '-s', '8'],
      ['-z', '-x', '-l', '-t', '5sec', '-s', '4'],
      ['-Z', 'AEST-10', '-t', '500msec', '-s', '30'],
    ]
    const cases = VARIED_ARCHIVES.flatMap((name) =>
      manners.map((manner) => ({ tool: pmstat, name: 'pmstat', args: ['-a', archive(name), ...manner] })),
    )
    const two = ['-a', archive('multi-vm00'), '-a', archive('multi-vm01'), '-t', '1sec', '-s', '5']
    // Ours prints the end once, PCP's repeats it up to the last sample.
    const once = (text: string): string => text.replace(/( No data in the archive\n)+/g, '$1')
    expect(await differences([...cases, { tool: pmstat, name: 'pmstat', args: two }], once)).toEqual([])
  })

  test('pmevent', async () => {
    const cases = ['eventrec', 'eventrec-old'].flatMap((name) =>
      [
        ['sample.event.records'],
        ['-z', '-s', '3', 'sample.event.records'],
        ['-t', '1sec', 'sample.event.type'],
        ['sample.event.highres_records'],
        ['sample.colour'],
      ].map((args) => ({ tool: pmval, name: 'pmevent', args: ['-a', archive(name), ...args] })),
    )
    expect(await differences(cases)).toEqual([])
  })

  test('pmdiff', async () => {
    const pairs = [
      ['diff1', 'diff2', '-q', '1'],
      ['diff1', 'diff2', '-p', '5', '-x', '^sample.f', '-x', 'ulong'],
      ['section-a', 'section-b', '-z', '--skip-excluded'],
      ['section-a', 'section-c'],
      ['section-a', 'section-d', '--skip-missing'],
      ['kenj-pc-1', 'kenj-pc-2', '-q', '1.1'],
      ['dyninsts', 'dyninsts2'],
      ['mark_no_mark_0', 'mark_no_mark_2', '-q', '1.0001'],
      ['instant-1', 'instant-base', '-p', '4'],
      ['dupname-a', 'dupname-b'],
      ['ok-bigbin', 'ok-foo', '-q', '1.0001'],
      ['tzchange-10-a', 'tzchange-10-b'],
      ['mirage-1', 'mirage-2', '-x', 'proc'],
      ['pcp-mpstat', 'pcp-mpstat2'],
      ['pcp-uptime', 'pcp-uptime2'],
      ['viewqa1', 'viewqa2'],
      ['multi-vm00', 'multi-vm01', '-q', '1.5'],
    ]
    const cases = pairs.map(([a, b, ...options]) => ({
      tool: pmdiff,
      name: 'pmdiff',
      args: [...options, archive(a!), archive(b!)],
    }))
    const oneArchive = ['-S', '@00:00', '-B', '@00:00', archive('ok-foo')]
    expect(await differences([...cases, { tool: pmdiff, name: 'pmdiff', args: oneArchive }])).toEqual([])
  })
})
