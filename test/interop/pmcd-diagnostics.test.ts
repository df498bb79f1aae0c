/** Compares event trace, controls, client lists and notices of our collector with the reference's, for the same session. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { hasReference, launch, run, top } from './lib/programs.ts'

const isRoot = process.getuid?.() === 0
const OURS = join(top, 'bin', 'pmcd')
const THEIRS = '/usr/lib/pcp/bin/pmcd'
const AGENTS = [
  'pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so',
  'simple 253 pipe binary /var/lib/pcp/pmdas/simple/pmdasimple -d 253',
].join('\n')

interface Session {
  /** Output of the clients. */
  readonly printed: string
  readonly log: string
}

type Client = (command: string, ...args: readonly string[]) => Promise<void>

/** Runs the reference's clients against a collector. */
async function session(
  pmcd: string,
  options: readonly string[],
  use: (client: Client) => Promise<void>,
): Promise<Session> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-diagnostics-'))
  const [conf, socket, log] = [join(dir, 'pmcd.conf'), join(dir, 'socket'), join(dir, 'log')]
  writeFileSync(conf, `${AGENTS}\n`)
  const args = ['-f', '-p', String(port), '-c', conf, '-s', socket, '-l', log, ...options]
  const collector = await launch(pmcd, args, port, dir)
  let printed = ''
  let text = ''
  try {
    await use(async (command, ...rest) => {
      const { stdout, stderr } = await run(command, ['-h', `unix:/${socket}`, ...rest])
      printed += stdout + stderr
    })
    text = readFileSync(log, 'utf8') // the directory is removed at the end
  } finally {
    await collector.stop()
  }
  return { printed, log: text.replaceAll(dir, 'DIR') }
}

/** Returns the blocks of the trace, without variable parts and errors of the reference. */
function traceOf(log: string): string[][] {
  return log.split('->PMCD event trace: starting at ').flatMap((block, i) => {
    if (i === 0) return []
    const [heading, ...lines] = block.split('\n')
    expect(heading).toMatch(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/)
    const events = lines.slice(0, lines.indexOf(''))
    // A bogus event: a buffer at address 1.
    const real = events.filter((line) => !/CREDS.*pdubuf=0x\.\.\.1$/.test(line))
    return [
      real.map((line) => {
        expect(line).toMatch(/^->( {9}|\d\d:\d\d:\d\d )\S/)
        return (
          line
            .slice(11)
            .replace(/pdubuf=0x\.\.\.[0-9a-f]+/, 'pdubuf')
            .replace(/fd=\d+/g, 'fd')
            // The reference logs the request where the reply is sent, and does not count the fetch.
            .replace(/^Xmit: HIGHRES_(FETCH|RESULT) PDU, fd.*/, 'Xmit: HIGHRES_RESULT PDU, fd')
            .replace(/^(Xmit: FETCH PDU, fd).*/, '$1')
            // The reference reads the number when it prints: by then another client may have the slot.
            .replace(/^(New client: .*seq)=\d+/, '$1')
            // A client may come before the one before it has left, and then gets another slot.
            .replace(/^((?:New|End) client: \[)\d+/, '$1slot')
        )
      }),
    ]
  })
}

describe.runIf(hasReference && isRoot)('diagnostics', () => {
  test('the event trace of the same session', async () => {
    const use = async (client: Client): Promise<void> => {
      await client('pmstore', 'pmcd.control.tracebufs', '500')
      for (const name of ['simple.color', 'simple.now']) await client('pminfo', '-fdtT', name)
      await client('pmprobe', '-I', 'simple.nosuch')
      await client('pmstore', 'simple.numfetch', '5')
      await client('pmstore', 'pmcd.control.dumptrace', '1')
    }
    const theirs = traceOf((await session(THEIRS, ['-T', '3'], use)).log)[0]!
    const ours = traceOf((await session(OURS, ['-T', '3'], use)).log)[0]!
    // The order between connections is undefined; the order on each connection is not.
    console.log(`${theirs.length} events of the reference, ${ours.length} of ours`)
    expect([...ours].sort()).toEqual([...theirs].sort())
  })

  test('every control accepts and rejects the same values', async () => {
    const values: readonly (readonly [name: string, ...values: string[]])[] = [
      ['timeout', '7', '-1', '0', '5'],
      ['register', '3', '-3'],
      ['traceconn', '1', '0', '2', '-1'],
      ['tracepdu', '1', '0', '7'],
      ['tracenobuf', '1', '0', '3'],
      ['tracebufs', '5', '0', '-1', '20'],
      ['dumptrace', '1', '0'],
      ['dumpconn', '1', '0'],
      ['debug', '1', '64', '4194304', '0', 'pdu'],
      ['sighup', '0', '1'],
    ]
    const use = async (client: Client): Promise<void> => {
      for (const [name, ...each] of values)
        for (const value of each) await client('pmstore', `pmcd.control.${name}`, value)
      await client('pminfo', '-f', 'pmcd.control')
    }
    const theirs = await session(THEIRS, [], use)
    const ours = await session(OURS, [], use)
    console.log(`${values.flat().length - values.length} stores compared`)
    // A control that only 7.2.1 has.
    const common = (text: string): string => text.replace(/\npmcd\.control\.creds_timeout\n.*\n/, '')
    expect(common(ours.printed)).toBe(common(theirs.printed))
    const resets = (text: string): number => text.split('pmcd reset via pmcd.control.sighup').length - 1
    expect(resets(ours.log)).toBe(resets(theirs.log))
    for (const pattern of [
      /^->Current PMCD clients at \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/m,
      /^ {5}fd {2}client connection from {20}ipc ver {2}operations denied$/m,
      /^ +\d+ {2}DIR\/socket +2$/m,
      /\] pmcd\(\d+\) Info: pmcd reset via pmcd.control.sighup$/m,
      /^\npmcd RESTARTED at \w{3} .*\n\n\nCurrent PMCD clients ...\n {5}fd {2}client/m,
      /^Configuration file 'DIR\/pmcd.conf' unchanged$/m,
      /^Restarting any deceased agents:\n {4}\(no agents required restarting\)$/m,
      /PMNS file ".*" is unchanged$/m,
    ]) {
      expect([pattern, pattern.test(theirs.log)]).toEqual([pattern, true])
      expect([pattern, pattern.test(ours.log)]).toEqual([pattern, true])
    }
  })
})
