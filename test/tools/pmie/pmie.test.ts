import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Returns the values of one statement, one for each evaluation. */
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

test('earlier samples are unknown until they have been taken', async () => {
  expect(await valuesOf('t.discrete @0..2')).toEqual(['0 ? ?', '100 0 ?', '120 100 0', '140 120 100'])
  expect(await valuesOf('sum_sample t.discrete @0..1')).toEqual(['?', '100', '220', '260'])
  expect(await valuesOf('t.discrete @0..1 > 50')).toEqual([
    'false unknown',
    'true false',
    'true true',
    'true true',
  ])
})

test('instances are counted, compared and selected by name', async () => {
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

test('unknown operands make a result unknown, unless the others decide it', async () => {
  expect(await valuesOf('t.failing > 1 || t.discrete >= 0')).toEqual(['true', 'true', 'true', 'true'])
  expect(await valuesOf('t.failing > 1 && t.discrete >= 0')).toEqual(Array(4).fill('unknown'))
  expect(await valuesOf('! (t.failing > 1)')).toEqual(Array(4).fill('unknown'))
})

test('rising is true when a condition becomes true', async () => {
  expect(await valuesOf('rising (t.discrete > 50)')).toEqual(['unknown', 'true', 'false', 'false'])
  expect(await valuesOf('falling (t.discrete < 50)')).toEqual(['unknown', 'true', 'false', 'false'])
})

test('texts are compared for equality', async () => {
  expect(await valuesOf('t.text == "at 10"')).toEqual(['false', 'true', 'false', 'false'])
})

test('actions show the instances and values that made a rule true', async () => {
  const { stdout } = await pmie('some_inst t.instances > 150 -> print "hot:" " %h:%i=%v";')
  expect(stdout.split('\n')[0]).toMatch(/^print .*: hot: testhost:two words=200$/)
})

test('placeholders refer to the outermost condition with instances, and vanish if no instance made a rule true', async () => {
  const messages = async (rule: string): Promise<string[]> =>
    [...(await pmie(rule)).stdout.matchAll(/^print .{24}: (.*)$/gm)].map((match) => match[1]!)
  expect(await messages('some_inst match_inst "two" t.instances > 150 -> print "%i=%v";')).toEqual([
    'two words=200',
    'two words=240',
    'two words=280',
  ])
  expect(await messages('! some_inst t.instances > 250 -> print "few" " %i=%v";')).toEqual([
    'few',
    'few',
    'few',
  ])
  expect(
    await messages('all_inst (some_host (t.discrete > 1000) || (t.instances >= 0)) -> print "%i,";'),
  ).toEqual(new Array(4).fill('one,two words,'))
  expect((await messages('true -> print "%i %v";'))[0]).toBe('<%i undefined> true')
})

test('instances missing in an expression are unknown, and match no pattern', async () => {
  expect(await valuesOf('all_inst some_inst t.instances >= 0')).toEqual([
    'unknown',
    'unknown',
    'unknown',
    'unknown',
  ])
  expect(await valuesOf('sum_inst (sum_inst t.instances)')).toEqual(['?', '?', '?', '?'])
  expect(await valuesOf('match_inst ".*" (t.discrete >= 0)')).toEqual(['false', 'false', 'false', 'false'])
})

test('an archive without a metric is reported once for a statement, and -C fails', async () => {
  const { status, stderr } = await pmie(
    't.nope > 1 && t.nope < 5 -> print "x";\nt.nope + 1;\nt.discrete;\n',
    '-v',
  )
  expect(stderr.match(/not in namespace/g)).toHaveLength(2)
  expect(status).toBe(0)
  expect((await pmie('t.nope > 1;\n', '-C')).status).toBe(1)
  expect((await pmie('t.discrete > 1;\n', '-C')).status).toBe(0)
})

test('skipped statements take a number only if they are rules, and their names can be reused', async () => {
  const { stdout } = await pmie(
    't.nope > 1;\nt.nope > 1 -> print "x";\nx = t.nope > 1 -> print "x";\nx = t.discrete;\nt.discrete;\n',
    '-v',
  )
  expect([...stdout.split('\n\n')[0]!.matchAll(/^(\w+) \(/gm)].map((match) => match[1])).toEqual([
    'x',
    'expr_2',
  ])
})

test('an instance of a metric without instances is refused', async () => {
  const { stderr, status } = await pmie('t.discrete #\'one\' > 1 -> print "x";\n', '-C')
  expect(stderr).toBe('pmie: metric t.discrete has no instances\n')
  expect(status).toBe(1)
})

test('errors are reported near the line being read', async () => {
  const lineOf = async (rules: string): Promise<string | undefined> =>
    /^pmie: syntax error - (?:near line )?(\d+|at end of file)/.exec((await pmie(rules, '-C')).stderr)?.[1]
  expect(await lineOf('t.instances > 1 -> print "x";\n\n\nt.discrete;\n')).toBe('4')
  expect(await lineOf('x = t.discrete == "a";\n\nt.discrete;\n')).toBe('1')
  expect(await lineOf('some_host all_host (t.discrete > 1)\n-> print "x";\n')).toBe('2')
  expect(await lineOf('t.instances > 1 -> print "x";\n')).toBe('at end of file')
})

test('the end is reported after an evaluation, in the log if there is one', async () => {
  const log = join(folder, 'log')
  const file = join(folder, 'rules')
  writeFileSync(file, 't.discrete;\n')
  const args = ['-v', '-t', '10sec', '-T', '10sec', '-a', archive.path]
  const { stdout, stderr } = await runTool(tool, [...args, '-l', log, file])
  expect(stdout).toMatch(/^expr_1 \(.*\): 0\n/)
  expect(stderr).toBe('')
  expect(readFileSync(log, 'utf8')).toMatch(
    /^Log for pmie on .* started .*\n\n\[.*\] pmie\(\d+\) Info: evaluator exiting\n\nLog finished .*\n$/,
  )
  expect((await runTool(tool, [...args, '-l', '-', file])).stderr).toMatch(
    /^Log for pmie on [\s\S]*\nLog finished .*\n$/,
  )
  writeFileSync(file, '')
  expect((await runTool(tool, [...args, file])).stderr).toBe('')
})

test('agent mode refuses rules with actions', async () => {
  const { stdout, stderr } = await pmie('x = t.discrete > 1 -> print "y";\nt.discrete;\n', '-X')
  expect(stderr).toContain('operator -> not allowed in agent mode\n')
  expect(stdout).toBe('0 \n100 \n120 \n140 \n')
})

test('an action is not repeated within its holdoff time', async () => {
  const { stdout } = await pmie('true -> print 20 sec "now";')
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
})

test('only the first true rule of a rule set fires', async () => {
  const { stdout } = await pmie(`ruleset t.counter > 5 -> print "fast"
    else t.counter > 2 -> print "slow" unknown -> print "who knows" otherwise -> print "idle";`)
  expect([...stdout.matchAll(/: (.*)$/gm)].map((match) => match[1])).toEqual([
    'who knows',
    'fast',
    'slow',
    'idle',
  ])
})

test('firings are JSON lines on request', async () => {
  const { stdout } = await pmie('hot = some_inst t.instances > 150 -> print "%i";', '--format=json')
  expect(JSON.parse(stdout.split('\n')[0]!)).toMatchObject({
    rule: 'hot',
    action: 'print',
    message: 'two words',
    line: 1,
    bindings: [{ host: 'testhost', instance: 'two words', value: '200' }],
  })
})

test('errors are reported with their position, and parsing continues', async () => {
  const { status, stderr } = await pmie('a = t.counter +\n  "x";\nb = t.nope;\nc = sum_inst t.text;\n', '-C')
  expect(status).toBe(1)
  expect(stderr).toContain('pmie: syntax error - near line 2 of file')
  expect(stderr).toContain('arithmetic expression expected to follow +\nline 2, column 3:\n  "x";\n  ^\n')
  expect(stderr).toContain(`pmie: metric t.nope not in namespace for archive ${archive.path} (host testhost)`)
  expect(stderr).toContain('arithmetic (not STRING) operand required for aggregate operator')
})

test.each([
  [
    'a = match_inst "a" t.counter;\nb = t.counter;\n',
    2,
    'logical expression expected to follow regular expression',
  ],
  ['a = match_inst\n t.counter;\nb = t.counter;\n', 2, 'regular expression expected to follow match_inst'],
  ['a = some_inst t.counter;\n\nb = t.counter;\n', 3, 'logical expression expected to follow quantifier'],
  ['a = t.counter > "x";\n\nb = t.counter;\n', 1, 'arithmetic expression expected to follow >'],
  ['a = t.counter > 1 -> t.counter;\n\nb = t.counter;\n', 1, 'action expected to follow ->'],
])(
  'an error is reported at the line where its statement becomes invalid: %j',
  async (rules, line, reason) => {
    const { stderr } = await pmie(rules, '-C')
    expect(stderr).toContain(`near line ${line} of file`)
    expect(stderr).toContain(`\n${reason}\n`)
  },
)

test('an invalid time is reported without the name of the command', async () => {
  const { status, stderr } = await pmie('a = t.counter;', '-A', '0')
  expect(status).toBe(1)
  expect(stderr).toBe('0\n^ -- alignment specified by -A switch could not be applied\n')
})

test('macros can contain parts of names', async () => {
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
