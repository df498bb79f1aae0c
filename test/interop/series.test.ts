/** Queries over archives of PCP's test suite give the recorded answers of PCP's own pmseries and pmproxy. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tool } from '../../src/tools/pmseries/index.ts'
import { testIo } from '../tools/run-tool.ts'

const SUITE = '/var/lib/pcp/testsuite/archives'
const ARCHIVES = ['proc', 'bozo-disk', 'sample-labels', 'viewqa1']
const VECTORS = new URL('../vectors/web/pmseries.json', import.meta.url)

interface Case {
  readonly id: string
  readonly arguments: readonly string[]
  readonly exit: number
  readonly stdout: string
  readonly stderr?: string
}

const CASES = JSON.parse(readFileSync(VECTORS, 'utf8')).cases as readonly Case[]

let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
  for (const name of ARCHIVES)
    for (const part of ['meta', 'index', '0'])
      cpSync(join(SUITE, `${name}.${part}`), join(directory, `${name}.${part}`))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Answers that differ, each with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'rate-glob': 'PCP crashes',
  'quoted-key': 'PCP crashes',
  topk_inst: 'of equal values, PCP repeats one with its time; here each has its own',
  nth_percentile_inst: 'of equal values, another one with its time',
  'nth_percentile_inst-0': 'of equal values, another one with its time',
  'nth_percentile_inst-100': 'of equal values, another one with its time',
  'rescale-nested': 'PCP rounds results between functions to seven digits',
  'rescale-rate': 'PCP rounds results between functions to seven digits',
  'log-log': 'PCP rounds results between functions to seven digits',
  precedence: 'PCP reads 1.03e+06 back as 1',
  multiply: 'PCP has no values for a product of series',
  'not-equal': 'PCP finds nothing by !=',
  'braces-window': 'PCP ignores the window',
  'opt-w-bad': 'other words in the second line',
  'no-server': 'a key server and --directory exclude each other',
  version: 'own version, printed by the command line of all tools',
  'opt-v-label': 'a host recorded elsewhere',
  'opt-S-none': 'hosts recorded elsewhere',
  'opt-m-none': 'a host recorded elsewhere',
  'opt-l-none': 'a host recorded elsewhere',
  'opt-i-none': 'a host recorded elsewhere',
}
/** A series of the machine on which the answers were recorded, whose archive is not here. */
const ELSEWHERE = /^8e183fa35f854031788fa180d0132ff054c97029\n/gm

async function run(args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const moved = args.map((each) => each.replaceAll(SUITE, directory))
  const io = { ...testIo('pmseries', ['--directory', directory, ...moved]), now: Date.now }
  const status = await tool.run(io)
  return { status, stdout: comparable(io.printed.stdout), stderr: io.printed.stderr }
}

const hasSuite = existsSync(SUITE)
const SAME = CASES.filter(({ id }) => DIFFERENT[id] === undefined)

it.skipIf(!hasSuite).each(SAME)('$id: as PCP answers $arguments', async (each) => {
  const { exit, stdout, stderr = '' } = each
  expect(await run(each.arguments)).toEqual({
    status: exit,
    stdout: comparable(stdout.replace(ELSEWHERE, '')),
    stderr,
  })
})

it.skipIf(!hasSuite)('the list of different answers is minimal', async () => {
  for (const id of Object.keys(DIFFERENT)) {
    const { exit, stdout, stderr = '', ...each } = CASES.find((one) => one.id === id)!
    const answer = await run(each.arguments)
    expect(answer, id).not.toEqual({ status: exit, stdout: comparable(stdout), stderr })
  }
})

/** Sets have no order: lines that are identifiers or names are sorted. Archives are elsewhere. */
function comparable(text: string): string {
  const moved = text.replaceAll(`${directory}/`, `${SUITE}/`)
  return moved.startsWith('\n') || moved.startsWith(' ') ? moved : moved.split('\n').sort().join('\n')
}
