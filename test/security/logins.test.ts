/** Guessing passwords at a running collector. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { formatUsers } from '../../src/net/sasl/user-file.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector } from '../../src/pmcd/options.ts'
import { processSecurity } from '../../src/pmcd/security.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { encodeAttr, PCP_ATTR_NONE } from '../../src/wire/attr.ts'
import { encodeCreds, PDU_FLAG_AUTH } from '../../src/wire/creds.ts'
import { decodeError } from '../../src/wire/error.ts'
import { Framer } from '../../src/wire/framer.ts'
import { PDU_ERROR, pduType } from '../../src/wire/pdu.ts'

const EAGAIN = -11
const BADAUTH = -21357
const lines: string[] = []
const log: Log = {
  ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
  notice: (level, text) => lines.push(`${level}: ${text}`),
  line: (text) => lines.push(text),
}

let dir: string
let collector: Collector

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-logins-'))
  const users = new Map([
    ['joe', await makeVerifier('secret')],
    ['ann', await makeVerifier('secret')],
  ])
  writeFileSync(join(dir, 'passwd.conf'), formatUsers(users))
  collector = await startCollector({
    agents: builtinAgents(['pmcd']),
    ports: [0],
    socketPath: join(dir, 'socket'),
    hostname: 'vm',
    log,
    security: processSecurity({ PCP_TLSCONF_PATH: join(dir, 'none'), PCP_SYSCONF_DIR: dir }, log),
  })
})
afterEach(async () => {
  await collector.close()
  rmSync(dir, { recursive: true })
  lines.length = 0
})

/** Sends a wrong password with PLAIN over the unix socket; resolves to the refusing status. */
function guess(user: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(join(dir, 'socket'))
    let received = 0
    const framer = new Framer((pdu) => {
      received++
      if (received === 1) socket.write(encodeCreds(PDU_FLAG_AUTH))
      else if (received === 2) socket.write(encodeAttr(PCP_ATTR_NONE, encodeText(`PLAIN\0\0${user}\0wrong`)))
      else if (pduType(pdu) === PDU_ERROR) {
        resolve(decodeError(pdu).status)
        socket.destroy()
      }
    })
    socket.on('data', (chunk) => framer.push(chunk))
    socket.on('error', reject)
  })
}

/** Logs in over TCP; rejects with the collector's error. */
async function login(user: string, password: string): Promise<void> {
  const spec = `127.0.0.1:${collector.port}?username=${user}&password=${password}`
  const source = await HostSource.connect(spec, { env: { PCP_TLSCONF_PATH: join(dir, 'none') } })
  await source.fetch([pmid(2, 0, 7)], { requester: ANONYMOUS })
  await source.close()
}

test('a hundred parallel guesses: a few are checked, the rest are refused unchecked and counted in the log', async () => {
  const statuses = await Promise.all(Array.from({ length: 100 }, () => guess('joe')))
  expect(statuses.filter((status) => status === BADAUTH).length).toBeLessThanOrEqual(6)
  expect(statuses.filter((status) => status === EAGAIN).length).toBeGreaterThanOrEqual(94)
  expect(lines.join('\n')).toMatch(/100 failed or refused logins from/)
})

test('guesses with SCRAM are limited too', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => login('joe', 'wrong')))
  const statuses = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason.status as number)
  expect(statuses.filter((status) => status === BADAUTH).length).toBeLessThanOrEqual(22)
})

test('a flood of guesses does not lock out users who have logged in before', async () => {
  await login('ann', 'secret')
  await Promise.allSettled(Array.from({ length: 60 }, (_, i) => login(`user${i}`, 'wrong')))
  await login('ann', 'secret')
})
