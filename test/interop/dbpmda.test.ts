/**
 * Compares dbpmda with PCP's, with PCP's C, Perl and Python agents and with ours, over pipes and sockets: the same commands print the
 * same output, in the same order.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isListening, plainEnv, run, top } from './lib/programs.ts'

const THEIRS = '/usr/bin/dbpmda'
const OURS = `${top}/bin/dbpmda`
const PMDAS = '/var/lib/pcp/pmdas'
const isHere = existsSync(THEIRS) && existsSync(`${PMDAS}/sample/pmdasample`)
if (!isHere) console.log("skipped: PCP's dbpmda and its sample agent are not here")

/** All requests to the simple agent, except for values that change with the time of day. */
const SIMPLE = `status
desc simple.numfetch
desc 253.0.1
desc 253.0.9
desc 253
fetch simple.numfetch simple.color
getdesc on
fetch simple.numfetch simple.color
getiname on
fetch simple.color
fetch 253.0.99
store simple.color "5"
store simple.color "300"
store simple.numfetch "abc"
instance 253.0
instance 253.0 "pink"
instance 253.0 red
instance 253.0 2
instance 253.5
label context
label domain
label cluster 253.0
label indom 253.0
label instances 253.0
profile 253.0 none
fetch simple.color
profile 253.0 add 1
profile 253.0 add 2
fetch simple.color
status
store simple.color "7"
profile 253.0 delete 1
profile 253.0 add red
status
profile 253.0 all
fetch simple.color
pmid nosuch
name 253.7.7
attr "username" "fred"
attr 11 "12"
timer on
desc simple.color
debug fetch
status
debug none
debug 1
status
debug none
namespace /nonexistent/names
foo
foo bar
desc
fetch
store simple.color 5
open pipe /nonexistent/agent
close
desc simple.color
status
q
`

const SAMPLE = `fetch sample.longlong.one sample.double.ten sample.float.ten sample.string.hullo sample.aggregate.hullo
fetch sample.aggregate.null sample.string.null sample.bin sample.bad.unknown sample.bad.novalues sample.ulonglong.million
fetch 29.0.1000
getdesc on
fetch sample.bad.unknown sample.long.one
fetch sample.bin sample.string.hullo sample.aggregate.hullo sample.float.bin sample.longlong.bin sample.double.bin
getiname on
fetch sample.noinst sample.error_check sample.colour
store sample.write_me "7"
store sample.string.write_me "hello"
store sample.aggregate.write_me "foo bar"
store sample.float.write_me "3.5"
store sample.double.write_me "3.5e7"
store sample.longlong.write_me "1e3"
store sample.noinst "5"
store sample.bad.nosupport "2"
children sample
children sample.secret
children sample.secret.foo
traverse sample.secret
traverse sample.secret.foo.bar
children nosuch
pmid sample.secret.bar
pmid sample.seconds
name 29.0.1000
name 30.1.1
label domain
label item sample.bin
label cluster 29.0
label instances 29.2
text sample.bin
text indom 29.2
text 29.0.1000
instance 29.2 "bin-100"
instance 29.2 100
desc sample.secret.bar
desc nosuch
desc sample
desc sample.event.records
desc sample.kbyte_ctr
store sample.not_ready "1"
fetch sample.bin
`

/** Masks text that always differs, and two intended differences: docs/explanation/differences.md. */
function normalized(text: string): string {
  return text
    .replace(/dump from 0x[0-9a-f]+/g, 'dump from ADDRESS')
    .replace(/pid: \d+/g, 'pid: PID')
    .replace(/Timer: [\d.]+/g, 'Timer: TIME')
    .replace(/^Namespace: .*$/gm, 'Namespace: FILE')
}

let dir: string
let lines = 0

async function talk(command: string, input: string): Promise<string> {
  const file = join(dir, 'input')
  writeFileSync(file, input)
  const { stdout } = await run('sh', ['-c', `"${command}" -ief <"${file}" 2>&1`], { cwd: dir })
  return normalized(stdout)
}

describe.runIf(isHere)('dbpmda', () => {
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'dbpmda-interop-'))
  })
  afterAll(() => {
    rmSync(dir, { recursive: true, force: true })
    console.log(`dbpmda: ${lines} lines the same`)
  })

  async function same(open: string, input: string): Promise<void> {
    const theirs = await talk(THEIRS, `${open}\n${input}`)
    const ours = await talk(OURS, `${open}\n${input}`)
    expect(ours.split('\n')).toEqual(theirs.split('\n'))
    lines += ours.split('\n').length
  }

  test('C agents on pipes', async () => {
    await same(`open pipe ${PMDAS}/simple/pmdasimple -d 253 -l ${dir}/simple.log`, SIMPLE)
    await same(`open pipe ${PMDAS}/sample/pmdasample -d 29 -l ${dir}/sample.log`, SAMPLE)
  })

  test('Perl and Python agents', async () => {
    for (const [program, file] of [
      ['/usr/bin/perl', `${PMDAS}/simple/pmdasimple.perl`],
      ['/usr/bin/pmpython', `${PMDAS}/simple/pmdasimple.python`],
    ] as const) {
      if (existsSync(program) && existsSync(file)) await same(`open pipe ${program} ${file} -d 253`, SIMPLE)
      else console.log(`skipped: no ${program} or ${file} here`)
    }
  })

  test('our agents', async () => {
    await same(`open pipe ${top}/bin/pmdasimple -d 253 -l ${dir}/simple.log`, SIMPLE)
    await same(`open pipe ${top}/bin/pmdasample -d 29 -l ${dir}/sample.log`, SAMPLE)
  })

  test('listening agents', async () => {
    const path = join(dir, 'socket')
    for (const input of [SIMPLE]) {
      const outputs: string[] = []
      for (const command of [THEIRS, OURS]) {
        const agent = spawn(
          `${PMDAS}/simple/pmdasimple`,
          ['-d', '253', '-u', path, '-l', `${dir}/simple.log`],
          { env: plainEnv(), stdio: 'ignore' },
        )
        const ended = new Promise((resolve) => agent.once('exit', resolve))
        await expect.poll(() => isListening(path)).toBe(true)
        outputs.push(await talk(command, `open socket unix ${path}\n${input}`))
        agent.kill()
        await ended
        rmSync(path, { force: true })
      }
      expect(outputs[1]!.split('\n')).toEqual(outputs[0]!.split('\n'))
      lines += outputs[1]!.split('\n').length
    }
  })
})
