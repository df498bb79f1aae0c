import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as mkaf } from '../../src/tools/mkaf.ts'
import { tool as pmafm } from '../../src/tools/pmafm/index.ts'
import { shellWords } from '../../src/tools/pmafm/words.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { testIo } from './run-tool.ts'

let cwd: string
let remove: () => void

beforeAll(() => {
  const disk = onDisk(sampleArchive())
  remove = disk.remove
  cwd = disk.directory
  mkdirSync(join(cwd, 'sub'))
  for (const end of ['meta', 'index', '0']) copyFileSync(join(cwd, `a.${end}`), join(cwd, 'sub', `b.${end}`))
  writeFileSync(join(cwd, 'notes.0'), 'no archive')
})

afterAll(() => remove())

async function run(tool: Tool, args: readonly string[], input = '') {
  const io = {
    ...testIo(tool.name, args, { HOME: cwd, PCP_VAR_DIR: '/nosuch' }),
    cwd,
    stdin: (async function* () {
      if (input !== '') yield encodeText(input)
    })(),
    commands: async () => TOOLS,
  }
  const status = await tool.run(io).catch((error: Error) => error.message)
  return { status, ...io.printed }
}

async function folio(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(mkaf, args)
  writeFileSync(join(cwd, 'folio'), stdout)
  return stdout
}

test('mkaf lists the archives of a folder, and reports other files', async () => {
  const { status, stdout, stderr } = await run(mkaf, ['notes.0', 'nosuch', '.'])
  expect(status).toBe(0)
  expect(stdout.replace(/on \S+/, 'on HOST')).toBe(`PCPFolio
Version: 1
# use pmafm(1) to process this PCP archive folio
#
Created: on HOST at Thu Jan  1 00:00:00 UTC 1970
Creator: pmchart
# \t\tHost\t\t\tBasename
#
Archive:        testhost                ./a
Archive:        testhost                ./sub/b
`)
  expect(stderr).toBe(
    'mkaf: notes.0: Not a PCP archive file\nmkaf: nosuch: No such file\nSearching "find . -follow ..."  done\n',
  )
})

test('mkaf passes options to find', async () => {
  expect(await folio('-maxdepth', '1', '.')).not.toContain('sub/b')
  expect(await folio('-name', 'b*', '.')).not.toContain('./a')
  expect((await run(mkaf, ['-newer', 'x', '.'])).status).toMatch(/^-newer .* -follow, -name PATTERN/)
  expect(await run(mkaf, ['a'])).toMatchObject({
    status: 1,
    stderr: 'mkaf: a: No such file\nmkaf: Warning: no PCP archives found, so no folio created\n',
  })
})

test('pmafm shows, checks and selects archives', async () => {
  await folio('a.0', 'sub/b.meta')
  const { stdout } = await run(
    pmafm,
    ['folio'],
    'list\narch 2\nsel\ncheck\nhosts nohost\narch nope\nsel\nh\nhe\nq\nlist\n',
  )
  const [, table, selected, checked, host, archive, all, unknown, help, ...rest] = stdout.split('pmafm> ')
  expect(table).toMatch(
    /^\nPCP Archive Folio: folio\nCreated: .*\nCreator: pmchart\n\nOrdinal Hostname {13}Archive Basename\n {2}\[ {2}1\] testhost {13}a\n {2}\[ {2}2\] testhost {13}sub\/b\n$/,
  )
  expect([selected, checked, host]).toEqual([
    '',
    'Archive: sub/b\n',
    'Archive: a ... OK\nArchive: sub/b ... OK\n',
  ])
  expect([archive, all]).toEqual([
    'Warning: host "nohost" not in folio ... ignored\n',
    'Warning: archive "nope" not in folio ... ignored\n',
  ])
  expect(unknown).toBe('Archive: a\nArchive: sub/b\n')
  expect(help).toBe('Unknown command "h" ... enter "help" for more information\n')
  expect(rest).toHaveLength(2)
})

test('pmafm runs a tool on each archive', async () => {
  await folio(`${cwd}/a.0`, `${cwd}/sub/b.meta`)
  expect(await run(pmafm, ['folio', 'pminfo', '-f', 't.counter'])).toEqual({
    status: 0,
    stdout: `Note: running pminfo serially, once per archive
Host: testhost Archive: ${cwd}/a

t.counter
    value 0
Host: testhost Archive: ${cwd}/sub/b

t.counter
    value 0
`,
    stderr: '',
  })
  const { status, stdout, stderr } = await run(pmafm, ['folio', 'run', 'pminfo', 'no.metric'])
  expect([status, stdout.split('\n').length]).toEqual([1, 4])
  expect(stderr).toMatch(/Unknown metric name/)
})

test('pmafm reports missing files, and shows the command that removes all', async () => {
  await folio('a.0')
  const folder = mkdtempSync(join(tmpdir(), 'folio-'))
  writeFileSync(
    join(folder, 'f'),
    'PCPFolio\nVersion: 1\nCreator: x conf\nArchive: other a\nArchive: testhost c\n',
  )
  for (const end of ['meta', 'index', '0']) copyFileSync(join(cwd, `a.${end}`), join(folder, `a.${end}`))
  expect(await run(pmafm, [join(folder, 'f'), 'check'])).toMatchObject({
    status: 1,
    stdout:
      `Archive: ${folder}/a ... Errors\n\tHostname mismatch: folio=other archive=testhost\n` +
      `Archive: ${folder}/c ... Errors\n\tNo such file: ${folder}/c.0\n\tNo such file: ${folder}/c.meta\n\tNo such file: ${folder}/c.index\n`,
  })
  expect((await run(pmafm, [join(folder, 'f'), 'remove'])).stdout).toBe(
    `( cd ${folder}/; rm -f f conf a.meta a.index a.0 )\n`,
  )
  rmSync(folder, { recursive: true })
  expect((await run(pmafm, ['folio', 'remove'])).stdout).toBe('rm -f folio a.meta a.index a.0\n')
})

test('pmafm refuses invalid folios and unknown tools', async () => {
  expect((await run(pmafm, ['nosuch', 'list'])).status).toMatch(/^cannot open folio "nosuch": No such file/)
  expect((await run(pmafm, ['notes.0', 'list'])).status).toBe('"notes.0" is not in PCP archive folio format')
  await folio('a.0')
  expect((await run(pmafm, ['folio', 'run', 'rm'])).stdout).toMatch(
    /^Error: Unknown PCP tool: rm\nKnown PCP tools:\n\tpcp /,
  )
  expect((await run(pmafm, ['folio', 'replay'])).stdout).toMatch(
    /^Error: I don't know how to replay .* "pmchart"/,
  )
})

test('splits lines as shells do', () => {
  expect(shellWords(` run 'a b' "c \\" d"e f\\ g 'open`)).toEqual(['run', 'a b', 'c " de', 'f g', 'open'])
})
