/** TLS between both sides: the reference's clients and our collector, our clients and its collector. docs/explanation/security.md */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { canMakeCertificates, makeAuthority, makeCertificate, writeTlsConf } from '../lib/certificates.ts'
import { hasReference, launch, run, type TestCollector, top } from './lib/programs.ts'

const isPossible = hasReference && canMakeCertificates()
if (hasReference && !isPossible) console.log('tls interop skipped: the openssl command is missing')

const AGENTS = '/var/lib/pcp/pmdas'
const CONF = `pmcd 2 dso pmcd_init ${AGENTS}/pmcd/pmda_pmcd.so\nsimple 253 pipe binary ${AGENTS}/simple/pmdasimple -d 253\n`
const REMOTE = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && each.family === 'IPv4' && !each.internal)?.address

const PMCD = { theirs: ['/usr/lib/pcp/bin/pmcd'], ours: [process.execPath, join(top, 'bin', 'pmcd')] }
const PMINFO = { theirs: ['pminfo'], ours: [process.execPath, join(top, 'bin', 'pminfo')] }
const SIDES = ['theirs', 'ours'] as const

let dir = ''
const file = (name: string): string => join(dir, name)

beforeAll(() => {
  if (!isPossible) return
  dir = mkdtempSync(join(tmpdir(), 'pcp-tls-'))
  makeAuthority(dir, 'ca')
  makeAuthority(dir, 'other')
  makeCertificate(dir, 'server', 'ca', `DNS:localhost${REMOTE === undefined ? '' : `,IP:${REMOTE}`}`)
  makeCertificate(dir, 'client', 'ca', 'DNS:client')
  const ca = { 'ca-cert-file': file('ca.crt') }
  writeTlsConf(file('server.conf'), {
    ...ca,
    'cert-file': file('server.crt'),
    'key-file': file('server.key'),
  })
  writeTlsConf(file('client.conf'), ca)
  writeTlsConf(file('other.conf'), { 'ca-cert-file': file('other.crt') })
  const own = { 'client-cert-file': file('client.crt'), 'client-key-file': file('client.key') }
  writeTlsConf(file('known.conf'), { ...ca, ...own })
})
afterAll(() => {
  if (isPossible) rmSync(dir, { recursive: true })
})

/** Starts a collector of one side with a certificate. */
async function start(side: 'ours' | 'theirs', ...options: string[]): Promise<TestCollector> {
  const port = await freePort()
  const place = file(`pmcd-${port}`)
  mkdirSync(place)
  writeFileSync(join(place, 'pmcd.conf'), CONF)
  const files = ['-c', 'pmcd.conf', '-s', join(place, 'socket'), '-l', 'pmcd.log']
  const [command, ...first] = PMCD[side]
  const args = [...first, '-f', '-p', String(port), ...files, ...options]
  return launch(command!, args, port, place, { PCP_TLSCONF_PATH: file('server.conf') })
}

/** Fetches values with a client of one side. */
async function pminfo(
  side: 'ours' | 'theirs',
  host: string,
  conf = 'client.conf',
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [command, ...first] = PMINFO[side]
  const args = [...first, '-h', host, '-f', 'simple.numfetch', 'simple.color']
  const { stdout, stderr } = await run(command!, args, {
    env: { PCP_TLSCONF_PATH: file(conf), ...env },
  })
  return stdout + stderr
}

const VALUES = /simple\.numfetch\n {4}value \d+\n\nsimple\.color\n( {4}inst.*\n){3}$/

describe.skipIf(!isPossible).each(SIDES)('the collector is %s', (server) => {
  let pmcd: TestCollector

  beforeAll(async () => {
    pmcd = await start(server)
  })
  afterAll(() => pmcd?.stop())

  test.each(SIDES)('and the client %s: over TCP and the unix socket, optional and required', async (side) => {
    expect(await pminfo(side, `pcps://${pmcd.host}`)).toMatch(VALUES)
    expect(await pminfo(side, `pcp://${pmcd.host}?secure=enforce`)).toMatch(VALUES)
    expect(await pminfo(side, `${pmcd.host}?secure=relaxed`)).toMatch(VALUES)
    expect(await pminfo(side, `unix:/${pmcd.dir}/socket?secure`)).toMatch(VALUES)
    expect(await pminfo(side, pmcd.host, 'client.conf', { PCP_SECURE_SOCKETS: 'enforce' })).toMatch(VALUES)
    expect(await pminfo(side, pmcd.host)).toMatch(VALUES)
  })
})

describe.skipIf(!isPossible)('certificates', () => {
  test.each(SIDES)('our client verifies the certificate of the collector (%s)', async (server) => {
    const pmcd = await start(server)
    expect(await pminfo('ours', `pcps://${pmcd.host}`, 'other.conf')).toMatch(
      /not signed by .*other\.crt|TLS protocol failure/,
    )
    await pmcd.stop()
  })

  test.skipIf(REMOTE === undefined).each(SIDES)(
    '-Q requires a certificate from clients of other hosts (%s)',
    async (server) => {
      const pmcd = await start(server, '-Q')
      for (const side of SIDES) {
        const remote = `${REMOTE}:${pmcd.port}`
        expect(await pminfo(side, `pcps://${remote}`, 'known.conf'), side).toMatch(VALUES)
        expect(await pminfo(side, remote), side).toMatch(/requires a client certificate/)
        expect(await pminfo(side, `pcps://${remote}`, 'client.conf'), side).not.toMatch(VALUES)
        expect(await pminfo(side, pmcd.host), side).toMatch(VALUES)
      }
      await pmcd.stop()
    },
  )
})
