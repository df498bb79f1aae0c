/** Our simple agent under the reference's collector and dbpmda, compared with the reference's own simple agent. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from './lib/agent-program.ts'
import { hasReference, plainEnv, run, startReference, type TestCollector } from './lib/programs.ts'

const THEIRS = '/var/lib/pcp/pmdas/simple/pmdasimple'
const hasBoth = hasReference && existsSync(THEIRS)
if (!hasBoth) console.log('skipped: the reference’s simple agent is not installed')

let dir: string
let command: string

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'agent-interop-'))
  command = await buildAgent('simple', dir)
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Masks text that differs between runs, and our own texts. */
function normalized(text: string): string {
  return text
    .replaceAll(THEIRS, 'PMDA')
    .replaceAll(command, 'PMDA')
    .replace(/0x[0-9a-f]{8,}/g, 'ADDRESS')
    .replace(/Timer: .*/g, 'Timer')
    .replace(/pid: \d+/g, 'pid: PID')
    .replace(/(253\.1\.[23] \(simple\.time\.\w+\).*\n)\s+value .*/g, '$1 value TIME')
    .replace(/(253\.1\.[23]: ).*( -> )/g, '$1TIME$2')
    .replace(/(inst \[\d or "(?:sec|min|hour)"\]) value \d+/g, '$1 value NOW')
    .replace(/(253\.2\.4 \[\d\]: )\d+( -> )/g, '$1NOW$2')
}

const SESSION = `desc simple.numfetch
desc simple.now
getdesc on
getiname on
fetch simple.numfetch simple.color
fetch simple.time.user simple.time.sys simple.now simple.color
instance 253.0
instance 253.0 "green"
instance 253.0 2
instance 253.0 "pink"
instance 253.0 7
instance 253.1
instance 253.9
profile 253.0 none
profile 253.0 add 1
fetch simple.color
profile 253.0 delete 1
fetch simple.color
profile 253.0 all
store simple.color "30"
store simple.color "300"
store simple.color "-1"
fetch simple.color
store simple.numfetch "5"
store simple.numfetch "-5"
fetch simple.numfetch
store simple.time.user "5"
store simple.now "5"
label context
label domain
label indom 253.0
label indom 253.1
label instances 253.0
label instances 253.1
label cluster 253.0
label item simple.color
attr "username" "fred"
fetch 253.7.7
desc 253.7.7
status
quit
`

function dbpmda(agent: string): string {
  const { stdout, stderr } = spawnSync('dbpmda', ['-ef'], {
    cwd: dir,
    env: plainEnv(),
    encoding: 'utf8',
    input: `open pipe ${agent} -d 253\n${SESSION}`,
  })
  return normalized(stdout + stderr)
}

describe.skipIf(!hasBoth)('the simple agent beside the reference’s', () => {
  test('gives dbpmda the same replies', () => {
    const theirs = dbpmda(THEIRS)
    expect(theirs.split('\n').length).toBeGreaterThan(120)
    expect(dbpmda(command)).toBe(theirs)
  })

  describe('under the reference’s collector', () => {
    const collectors: TestCollector[] = []
    beforeAll(async () => {
      for (const program of [THEIRS, command])
        collectors.push(await startReference(['pmcd', `simple 253 pipe binary ${program} -d 253`]))
    })
    afterAll(async () => {
      for (const collector of collectors) await collector.stop()
    })

    /** Runs a command at both collectors, the reference's first. */
    async function both(program: string, ...args: string[]): Promise<[string, string]> {
      const printed: string[] = []
      for (const { host } of collectors) {
        const { status, stdout, stderr } = await run(program, ['-h', host, ...args], { cwd: dir })
        printed.push(`${stdout}${stderr}status ${status}`.replaceAll(host, 'HOST'))
      }
      return [printed[0]!, printed[1]!]
    }

    test.each([
      ['pminfo', '-dfmI', 'simple.numfetch', 'simple.color'],
      ['pminfo', '-dm', 'simple'],
      ['pminfo', '-l', 'simple.color'],
      ['pmprobe', '-i', 'simple'],
      ['pmprobe', '-v', 'simple.color', 'simple.numfetch'],
      ['pmstore', 'simple.numfetch', '42'],
      ['pmstore', 'simple.numfetch', '-1'],
      ['pmstore', '-i', 'green', 'simple.color', '7'],
      ['pmstore', 'simple.color', '300'],
      ['pmstore', 'simple.time.user', '1'],
      ['pmval', '-s', '2', '-t', '0.1', '-i', 'red,blue', 'simple.color'],
      ['pminfo', '-f', 'simple.numfetch', 'simple.color'],
    ])('%s %s %s', async (program, ...args) => {
      const [theirs, ours] = await both(program, ...args)
      expect(theirs).not.toContain('Usage')
      expect(ours.replace(/^(host|start|end): .*\n/gm, '')).toBe(
        theirs.replace(/^(host|start|end): .*\n/gm, ''),
      )
    })

    test('help texts are those of the installed help files', async () => {
      const [theirs, ours] = await both('pminfo', '-tT', 'simple')
      expect(ours).toBe(theirs)
      expect(ours).not.toContain('rror')
    })

    test('is still connected after all this', async () => {
      const { host } = collectors[1]!
      const { stdout } = await run('pminfo', ['-h', host, '-f', 'pmcd.agent.status'])
      expect(stdout).toMatch(/"simple"\] value 0/)
    })
  })
})
