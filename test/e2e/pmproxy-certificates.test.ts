/** pmproxy rereads its certificates on SIGHUP. docs/explanation/security.md */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProxy } from '../../src/pmproxy/main.ts'
import type { RunningProxy } from '../../src/pmproxy/server.ts'
import { canMakeCertificates, makeAuthority, writeTlsConf } from '../lib/certificates.ts'
import { eventually } from '../lib/eventually.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmproxy-certificates-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Returns the name in the certificate of a server. */
function shownBy(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test.skipIf(!canMakeCertificates())(
  'new certificates are used after SIGHUP; invalid ones are reported and ignored',
  async () => {
    const file = (name: string): string => join(dir, name)
    const take = (name: string): void => {
      for (const kind of ['crt', 'key']) copyFileSync(file(`${name}.${kind}`), file(`server.${kind}`))
    }
    makeAuthority(dir, 'first')
    makeAuthority(dir, 'second')
    take('first')
    writeTlsConf(file('tls.conf'), { 'cert-file': file('server.crt'), 'key-file': file('server.key') })
    mkdirSync(file('run'))
    writeFileSync(file('pmproxy.conf'), '')
    const aborter = new AbortController()
    let ended: Promise<number> | undefined
    const proxy = await new Promise<RunningProxy>((started, failed) => {
      const settings = {
        configName: file('pmproxy.conf'),
        logPath: file('pmproxy.log'),
        ports: [0],
        addresses: ['127.0.0.1'],
        isProxyOnly: true,
        debug: '',
        requiresUser: false,
        requiresCertificate: false,
        isService: false,
      }
      const env = {
        PCP_TLSCONF_PATH: file('tls.conf'),
        PCP_RUN_DIR: file('run'),
        PCP_TMP_DIR: dir,
      }
      const { signal } = aborter
      ended = runProxy(settings, { env, cwd: dir, signal, started, failed: (why) => failed(new Error(why)) })
    })
    const log = (): string => readFileSync(file('pmproxy.log'), 'utf8')
    const hangUp = (): boolean => process.emit('SIGHUP', 'SIGHUP')

    expect(await shownBy(proxy.port)).toBe('first')
    take('second')
    expect(await shownBy(proxy.port)).toBe('first')
    hangUp()
    await expect.poll(() => shownBy(proxy.port)).toBe('second')

    copyFileSync(file('first.key'), file('server.key'))
    hangUp()
    await eventually(() => expect(log()).toMatch(/Error: Certificates not reloaded: .*server\.crt/))
    expect(await shownBy(proxy.port)).toBe('second')

    take('first')
    hangUp()
    await expect.poll(() => shownBy(proxy.port)).toBe('first')
    aborter.abort()
    expect(await ended).toBe(0)
  },
)
