/** Queries over archives of PCP's test suite give the recorded answers of PCP's own pmseries and pmproxy. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tool } from '../../src/tools/pmseries/index.ts'
import { runTool } from '../tools/run-tool.ts'

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

it.skipIf(!existsSync(SUITE)).each(CASES)(
  '$id: as PCP answers $arguments',
  async ({ arguments: args, ...expected }) => {
    const { status, stdout, stderr } = await runTool(tool, ['--directory', directory, ...args])
    expect({ status, stdout: comparable(stdout), stderr }).toEqual({
      status: expected.exit,
      stdout: comparable(expected.stdout),
      stderr: expected.stderr ?? '',
    })
  },
)

/** Sets have no order: lines that are identifiers or names are sorted. Archives are elsewhere. */
function comparable(text: string): string {
  const moved = text.replaceAll(`${directory}/`, `${SUITE}/`)
  return moved.startsWith('\n') || moved.startsWith(' ') ? moved : moved.split('\n').sort().join('\n')
}
