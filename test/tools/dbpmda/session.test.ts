/** Sessions of dbpmda with in-process agents. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clearDebug } from '../../../src/model/debug.ts'
import { tool } from '../../../src/tools/dbpmda/index.ts'
import { testIo } from '../run-tool.ts'

const SIMPLE = 'open dso /any/pmda_simple.so simple_init\n'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dbpmda-'))
  writeFileSync(
    join(cwd, 'root'),
    'root {\n\tsimple\n}\nsimple {\n\tnumfetch\t253:0:0\n\tcolor\t253:0:1\n}\n',
  )
})
afterEach(() => {
  rmSync(cwd, { recursive: true })
  clearDebug('all')
})

async function run(input: string, args: readonly string[] = []) {
  const stdin = (async function* () {
    // In pieces that are not lines, as input arrives from a terminal or pipe.
    for (let at = 0; at < input.length; at += 7) yield Buffer.from(input.slice(at, at + 7))
  })()
  const env = { PMNS_DEFAULT: join(cwd, 'root'), PCP_PMDAS_DIR: cwd }
  const io = { ...testIo('dbpmda', args, env), cwd, stdin }
  const status = await tool.run(io)
  return { status, ...io.printed }
}

test('shows descriptors, values, instances and names', async () => {
  const { status, stdout, stderr } = await run(
    `${SIMPLE}desc simple.color\nfetch simple.numfetch simple.color\ngetiname on\nfetch simple.color\n` +
      'instance 253.0\ninstance 253.0 1\ninstance 253.0 "blue"\nname 253.0.1\npmid simple.color\nchildren simple.time\n',
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout.replace(/timestamp: .* numpmid/g, 'timestamp: T numpmid')).toBe(
    `PMID: 253.0.1
    Data Type: 32-bit int  InDom: 253.0 0x3f400000
    Semantics: instant  Units: none
PMID(s): 253.0.0 253.0.1
pmResult dump from 0x0 timestamp: T numpmid: 2
  253.0.0 (simple.numfetch): numval: 1 valfmt: 0 vlist[]:
   value 1 1.4012985e-45 0x1
  253.0.1 (simple.color): numval: 3 valfmt: 0 vlist[]:
    inst [0 or ???] value 1 1.4012985e-45 0x1
    inst [1 or ???] value 101 1.4153114e-43 0x65
    inst [2 or ???] value 201 2.8166099e-43 0xc9
PMID(s): 253.0.1
pmResult dump from 0x0 timestamp: T numpmid: 1
  253.0.1 (simple.color): numval: 3 valfmt: 0 vlist[]:
    inst [0 or "red"] value 2
    inst [1 or "green"] value 102
    inst [2 or "blue"] value 202
pmInDom: 253.0
[  0] inst: 0 name: "red"
[  1] inst: 1 name: "green"
[  2] inst: 2 name: "blue"
pmInDom: 253.0
[  0] name: "green"
pmInDom: 253.0
[  0] inst: 2
PMID: 253.0.1
   simple.color
Metric: simple.color
   253.0.1
Metric: simple.time
       leaf user
       leaf sys
`,
  )
})

test('stores into the instances of the profile', async () => {
  const { stdout } = await run(
    `${SIMPLE}profile 253.0 none\nprofile 253.0 add 1\nstore simple.color "7"\nprofile 253.0 all\n` +
      'store simple.color "8"\nstore simple.color "999"\nstore simple.color "x"\nstore simple.color "99999999999"\n',
  )
  expect(stdout).toContain('Getting Result Structure...\n253.0.1: 101 -> 7\n')
  expect(stdout).toContain('253.0.1 [0]: 1 -> 8\n253.0.1 [1]: 8 -> 8\n253.0.1 [2]: 201 -> 8\n')
  expect(stdout).toContain('Error: DSO store() failed: Bad input to pmstore\n')
  expect(stdout).toContain('Error: Value "x" is incompatible with metric type (PM_TYPE_32)\n')
  expect(stdout).toContain('Error: Value "99999999999" is out of range for metric type (PM_TYPE_32)\n')
})

test('shows labels and texts, or the error', async () => {
  const { stdout, stderr } = await run(
    `${SIMPLE}label domain\nlabel context\nlabel indom 253.0\nlabel cluster 253.0\ntext indom 253.0\ntext 253.9.9\n`,
  )
  expect(stdout).toMatch(
    /^Labels:\n {4}role="testing"\nInfo: DSO label\(\) returns 0\npmInDom: 253\.0\nLabels:\n/,
  )
  expect(stdout).toContain('Cluster: 253.0\nInfo: DSO label() returns 0\npmInDom: 253.0\n[')
  expect(stdout).toMatch(
    /PMID: 253\.9\.9\n(Error: DSO text\(\) failed: One-line or help text is not available\n){2}$/,
  )
  expect(stderr).toBe('Warning: PMID (253.9.9) is not defined in the PMNS\n')
})

test('names of in-process agents are known before the name space has them', async () => {
  writeFileSync(join(cwd, 'root'), 'root {\n}\n')
  const { stdout, stderr } = await run(
    `${SIMPLE}pmid simple.color\nfetch simple.numfetch\nopen dso x_simple.so i\n`,
  )
  expect(stdout).toContain('(simple.numfetch): numval: 1')
  expect(stderr).toBe('opendso: x_simple.so: No such file or directory\n')
})

test('opens a module with a given domain', async () => {
  writeFileSync(
    join(cwd, 'mine.mjs'),
    `export const agent = { name: 'mine', domain: 1, open: () => { throw Object.assign(new Error('wrong tables'), { name: 'PcpError', code: 'PM_ERR_GENERIC', status: -12345 }) } }`,
  )
  const { stderr } = await run(
    `open dso ${cwd}/mine.mjs agent 400\nopen dso ${cwd}/mine.mjs other\nopen dso ${cwd}/no.mjs agent\n`,
  )
  expect(stderr.split('\n')).toEqual([
    'wrong tables',
    `${cwd}/mine.mjs exports no agent "other": make one with defineAgent`,
    `opendso: ${cwd}/no.mjs: No such file or directory`,
    '',
  ])
})

test('shows the position of an error', async () => {
  const wrong = async (line: string): Promise<string> => {
    const { stdout, stderr } = await run(`${line}\n`)
    return stdout + stderr
  }
  const at = (column: number, message: string): string =>
    `${' '.repeat(column)}^ at or near here\nError: ${message}\nType 'help' for a list of commands.\n`
  // Positions and messages are those of PCP 6.0.3.
  expect(await wrong('foo')).toBe(at(10, 'Unrecognized command'))
  expect(await wrong('foo bar')).toBe(at(11, 'Unrecognized command'))
  expect(await wrong('desc simple.color extra')).toBe(at(30, 'syntax error'))
  expect(await wrong('desc nosuch')).toBe(at(18, 'Unknown metric name'))
  expect(await wrong('desc simple')).toBe(at(18, 'Metric name is not a leaf in PMNS'))
  expect(await wrong('open pipe')).toBe(at(16, 'syntax error'))
  expect(await wrong('store simple.color 5')).toBe(at(27, 'syntax error'))
  expect(await wrong('store simple.color "uncl')).toBe(at(31, 'Expected "'))
  expect(await wrong('profile 253.1 del 2')).toBe(at(25, 'syntax error'))
  expect(await wrong('debug nosuch')).toBe(at(19, 'Bad debug flag (nosuch)'))
  expect(await wrong('attr 99 "x"')).toBe(at(15, 'Attribute (99) is not recognised'))
  expect(await wrong('attr "nosuch" "x"')).toBe(at(20, 'Attribute (nosuch) is not recognised'))
  expect(await wrong('wait 1.5')).toBe(at(15, 'syntax error'))
  expect(await wrong('label cluster 253.0.1')).toBe(at(28, 'syntax error'))
  expect(await wrong('desc 511.0.0')).toBe(at(19, 'Number out of range'))
  expect(await wrong('fetch')).toBe('fetch metric [ metric ... ]\n')
  expect(await wrong('fetch simple.color')).toBe('Warning: No PMDA currently opened\n')
  expect(await wrong('# fetch')).toBe('')
})

test('help shows the syntax of every command', async () => {
  const { stdout } = await run('help\n')
  const commands = new Set(stdout.split('\n').map((line) => line.split(' ')[0]!))
  commands.delete('')
  expect(commands.size).toBe(24)
  for (const command of commands) {
    if (command === 'help') continue
    const help = await run(`help ${command}\n`)
    expect(help.stdout.split('\n')[1]).toMatch(new RegExp(`^${command}`))
    expect(help.stdout.split('\n\n')[1]!.length, command).toBeGreaterThan(30)
  }
})

test('status, prompts, echo and .dbpmdarc', async () => {
  writeFileSync(join(cwd, '.dbpmdarc'), 'debug pdu fetch\ngetdesc on\n')
  const { stdout } = await run('timer on\nprofile 253.0 none\nprofile 253.0 add 3\nstatus\ndebug none\n', [
    '-ie',
  ])
  expect(stdout).toBe(
    `.dbpmdarc> debug pdu fetch
.dbpmdarc> getdesc on
.dbpmdarc> dbpmda> timer on
dbpmda> profile 253.0 none
dbpmda> profile 253.0 add 3
dbpmda> status

Namespace:              (default)
PMDA:                   none
Debug options:          pdu fetch
Timer:                  on
Getdesc:                on
Getiname:               off

Dump Instance Profile state=INCLUDE, 1 profiles
	Profile [0] indom=1061158912 [253.0] state=EXCLUDE 1 instances
		Instances: [3]

dbpmda> debug none
dbpmda> 
`,
  )
  expect((await run('quit\n', ['-f', '-i'])).stdout).toBe('dbpmda> ')
})

test('sets attributes, times requests and reloads the name space', async () => {
  writeFileSync(join(cwd, 'other'), 'root {\n\tx\t253:0:0\n}\n')
  const { stdout, stderr } = await run(
    `${SIMPLE}attr "userid" "12"\nattr container 'box'\nattr 5\ntimer on\ndesc simple.color\nnamespace other\ndesc x\nnamespace nope\nstatus\n`,
  )
  expect(stdout).toMatch(
    /^Attribute: userid=12\nSuccess\nAttribute: container=box\nSuccess\nAttribute: username=''\nSuccess\n/,
  )
  expect(stdout.match(/^Timer: 0\.\d{6} seconds$/gm)).toHaveLength(2)
  expect(stdout).toContain(
    '\nNamespace:              other\nPMDA:                   /any/pmda_simple.so\nConnection:             dso\n',
  )
  expect(stderr).toContain('dbpmda: Reload namespace "other"\n')
})

test('refuses invalid command lines', async () => {
  expect(await run('', ['-q', 'x'])).toMatchObject({ status: 1 })
  expect(await run('', ['extra'])).toMatchObject({ status: 1 })
  await expect(run('', ['-U', 'no-such-user'])).rejects.toThrow('No user "no-such-user"')
  await expect(run('', ['-n', 'nope'])).rejects.toThrow('Cannot load namespace from "nope"')
})
