/** Rules about many hosts in one process: each host has its own context, and an unreachable one delays no other. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { connect } from '../../src/pmapi/connect.ts'
import { Context } from '../../src/pmapi/context.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'
import { tool } from '../../src/tools/pmie/index.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { testIo } from '../tools/run-tool.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pmie-hosts-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const COUNT = 60
const NAMES = Array.from({ length: COUNT }, (_, i) => `host${i}`)

/** Runs rules for some time or until enough was printed; hosts answer to the names used for them. */
async function run(
  rules: string,
  length: string,
  isThere: (host: string) => boolean,
  isEnough: (printed: string) => boolean = () => false,
): Promise<{ stdout: string; stderr: string; opened: string[] }> {
  const opened: string[] = []
  const open: typeof connect = async (spec) => {
    const text = typeof spec === 'string' ? spec : JSON.stringify(spec)
    const host = NAMES.findLast((name) => text.includes(`"${name}"`)) ?? 'default'
    opened.push(host)
    if (!isThere(host)) throw new PcpError('ECONNREFUSED', `${host}: Connection refused`)
    return Context.over(openAgent(demoAgent), { hostname: host })
  }
  const args = ['-v', '-t', '20msec', '-T', length]
  const env = { PCP_TMP_DIR: folder, PMCD_RECONNECT_TIMEOUT: '0.02' }
  const io = { ...testIo('pmie', args, env), connect: open }
  const end = new AbortController()
  const write = (text: string): void => {
    io.stdout.write(text)
    if (isEnough(io.printed.stdout)) end.abort()
  }
  const stdin = (async function* () {
    yield new TextEncoder().encode(rules)
  })()
  expect(await tool.run({ ...io, stdin, stdout: { ...io.stdout, write }, signal: end.signal })).toBe(0)
  return { ...io.printed, opened }
}

const ALL = NAMES.map((name) => `:${name}`).join(' ')

test('values of sixty hosts are combined, with one connection to each', async () => {
  const rules = `sum = sum_host demo.one ${ALL};
many = count_host (demo.one ${ALL} > 0);
three = sum_inst demo.bin :host3;
all_host demo.one ${ALL} > 0 -> print "up:" " %h";`
  const { stdout, opened } = await run(rules, '10msec', () => true)
  expect(stdout).toContain(`sum: ${COUNT}\nmany: ${COUNT}\nthree: 30\n`)
  expect(stdout).toContain(`: up: ${NAMES.join(' ')}\n`)
  expect(opened.sort()).toEqual([...NAMES, 'default'].sort())
})

test('only the values of an unreachable host are unknown, until it is back', async () => {
  let tries = 0
  const rules = 'here = demo.one :host1; there = demo.one :host2;'
  const isThere = (host: string): boolean => host !== 'host2' || ++tries > 2
  const { stdout, stderr } = await run(rules, '1hour', isThere, (text) => text.includes('there: 1'))
  expect(stdout.startsWith('here: 1\nthere: ?\n\n')).toBe(true)
  expect(stdout.trimEnd().endsWith('here: 1\nthere: 1')).toBe(true)
  expect(stderr).toContain('warning - pmcd via host2 does not respond')
  expect(stderr).toContain('Re-established connection to pmcd host2')
})
