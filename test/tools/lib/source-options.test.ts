/** -n, -N and -K, compared with recorded command lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PcpError } from '../../../src/model/errors.ts'
import type { OptionTable } from '../../../src/tools/lib/options.ts'
import { loadNames } from '../../../src/tools/lib/source.ts'
import { parseStandard, STANDARD } from '../../../src/tools/lib/standard.ts'
import { readVectors } from '../../vectors.ts'
import { testIo } from '../run-tool.ts'

interface OptionCase {
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly result: { readonly messages?: string; readonly nsflag?: number }
}

const vectors = readVectors<OptionCase>('format/options.json')
const { files } = vectors as unknown as { readonly files: Readonly<Record<string, string>> }
const TABLE: OptionTable = { synopsis: '[options]', rows: [STANDARD.namespace, STANDARD.uniqnames] }

/** Cases with one name space, as here a second -n replaces the first. */
const cases = vectors.cases.filter(({ argv, env = {} }) => {
  const options = argv.filter((arg) => /^(-[nN]|--namespace|--uniqnames)/.test(arg)).length
  return options === 1 || (argv.length === 0 && Object.keys(env).some((name) => /NAMES/.test(name)))
})

let cwd = ''

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'source-options-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
})

afterAll(() => {
  rmSync(cwd, { recursive: true })
})

test.each(cases)(
  'the name space of $argv $env is loaded or refused as by the reference',
  ({ argv, env = {}, result }) => {
    const io = { ...testIo('tool', argv, env), cwd }
    const { standard, problems } = parseStandard(TABLE, io)
    expect(problems).toEqual([])
    try {
      loadNames(standard.namespace!, io)
      expect(result.messages).toBeUndefined()
    } catch (error) {
      io.stderr.write(`tool: ${PcpError.from(error).message}\n`)
      expect(io.printed.stderr).toBe(result.messages)
    }
  },
)

test('covers the recorded name spaces', () => {
  expect(cases.length).toBe(10)
})
