import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tool } from '../../../src/tools/pmie/index.ts'
import { onDisk, sampleArchive } from '../archive-runner.ts'
import { runTool } from '../run-tool.ts'

let archive: ReturnType<typeof onDisk>
let folder: string

beforeAll(() => {
  archive = onDisk(sampleArchive())
  folder = mkdtempSync(join(tmpdir(), 'pmie-'))
})
afterAll(() => {
  archive.remove()
  rmSync(folder, { recursive: true, force: true })
})

const pmie = (rules: string, ...args: string[]): ReturnType<typeof runTool> => {
  const file = join(folder, 'rules')
  writeFileSync(file, rules)
  return runTool(tool, ['-q', '-t', '10sec', '-T', '30sec', ...args, '-a', archive.path, file])
}

/** Values of one statement, evaluation by evaluation. */
async function valuesOf(rule: string): Promise<string[]> {
  const { stdout } = await pmie(`x = ${rule};\n`, '-v')
  return [...stdout.matchAll(/^x \(.*?\): (.*)$/gm)].map((match) => match[1]!)
}

test('counters are rates, but not under instant', async () => {
  expect(await valuesOf('t.counter')).toEqual(['?', '10', '2.50', '1'])
  expect(await valuesOf('instant t.counter')).toEqual(['0', '100', '125', '135'])
})

test('values are in bytes, seconds and counts, like constants with units', async () => {
  expect(await valuesOf('t.discrete + 1 Kbyte')).toEqual(['1024', '1124', '1144', '1164'])
  expect(await valuesOf('t.discrete + 60 / 1 min')).toEqual(['1', '101', '121', '141'])
  expect(await valuesOf('t.discrete * 0 + 6 Kbytes / min')).toEqual(['102', '102', '102', '102'])
})

test('samples back in time are there once they have been taken', async () => {
  expect(await valuesOf('t.discrete @0..2')).toEqual(['0 ? ?', '100 0 ?', '120 100 0', '140 120 100'])
  expect(await valuesOf('sum_sample t.discrete @0..1')).toEqual(['?', '100', '220', '260'])
  expect(await valuesOf('t.discrete @0..1 > 50')).toEqual([
    'false unknown',
    'true false',
    'true true',
    'true true',
  ])
})

test('instances are counted, compared and chosen by name', async () => {
  expect(await valuesOf("t.instances #'two'")).toEqual(['0', '200', '240', '280'])
  expect(await valuesOf('max_inst t.instances')).toEqual(['0', '200', '240', '280'])
  expect(await valuesOf('count_inst t.instances > 100')).toEqual(['0', '1', '2', '2'])
  expect(await valuesOf('some_inst match_inst "^tw" t.instances > 150')).toEqual([
    'false',
    'true',
    'true',
    'true',
  ])
})

test('what is not known decides nothing, unless the rest does', async () => {
  expect(await valuesOf('t.failing > 1 || t.discrete >= 0')).toEqual(['true', 'true', 'true', 'true'])
  expect(await valuesOf('t.failing > 1 && t.discrete >= 0')).toEqual(Array(4).fill('unknown'))
  expect(await valuesOf('! (t.failing > 1)')).toEqual(Array(4).fill('unknown'))
})

test('rising is true when something has become so', async () => {
  expect(await valuesOf('rising (t.discrete > 50)')).toEqual(['unknown', 'true', 'false', 'false'])
  expect(await valuesOf('falling (t.discrete < 50)')).toEqual(['unknown', 'true', 'false', 'false'])
})

test('texts are equal or not', async () => {
  expect(await valuesOf('t.text == "at 10"')).toEqual(['false', 'true', 'false', 'false'])
})

test('actions tell the instances and values that made a rule true', async () => {
  const { stdout } = await pmie('some_inst t.instances > 150 -> print "hot:" " %h:%i=%v";')
  expect(stdout.split('\n')[0]).toMatch(/^print .*: hot: testhost:two words=200$/)
})

test('an action is held back for its time', async () => {
  const { stdout } = await pmie('true -> print 20 sec "now";')
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
})

test('the first true rule of a set counts, and others have their turn', async () => {
  const { stdout } = await pmie(`ruleset t.counter > 5 -> print "fast"
    else t.counter > 2 -> print "slow" unknown -> print "who knows" otherwise -> print "idle";`)
  expect([...stdout.matchAll(/: (.*)$/gm)].map((match) => match[1])).toEqual([
    'who knows',
    'fast',
    'slow',
    'idle',
  ])
})

test('firings are lines of JSON where that is asked for', async () => {
  const { stdout } = await pmie('hot = some_inst t.instances > 150 -> print "%i";', '--format=json')
  expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({
    rule: 'hot',
    action: 'print',
    message: 'two words',
    line: 1,
    bindings: [{ host: 'testhost', instance: 'two words', value: '200' }],
  })
})

test('mistakes are told with their place, and what follows is read on', async () => {
  const { status, stderr } = await pmie('a = t.counter +\n  "x";\nb = t.nope;\nc = sum_inst t.text;\n', '-C')
  expect(status).toBe(1)
  expect(stderr).toContain('pmie: syntax error - near line 2 of file')
  expect(stderr).toContain('arithmetic expression expected to follow +\nline 2, column 3:\n  "x";\n  ^\n')
  expect(stderr).toContain(`pmie: metric t.nope not in namespace for archive ${archive.path} (host testhost)`)
  expect(stderr).toContain('arithmetic (not STRING) operand required for aggregate operator')
})

test('macros may hold parts of names', async () => {
  const { stdout } = await pmie('a = "t.dis"; b = "$\'a\'crete"; x = $b @0;', '-v')
  expect(stdout).toContain('): 100\n')
  expect((await pmie('x = $nope;', '-C')).stderr).toContain('undefined macro name $nope\n')
})

test('options that exclude each other are refused', async () => {
  expect((await runTool(tool, ['-c', 'a', 'b'])).stderr).toContain(
    'pmie: extra filenames cannot be given after using -c\n',
  )
  expect((await runTool(tool, ['-f', '-F'])).stderr).toContain(
    'pmie: the -f and -F options are mutually exclusive\n',
  )
})
