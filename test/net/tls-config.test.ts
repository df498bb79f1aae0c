import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tlsServer } from '../../src/net/tls.ts'
import { loadTlsConfig, parseTlsConfig, readCas } from '../../src/net/tls-config.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-tls-config-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('parses files like the reference', () => {
  const text =
    '# a comment\n\ntls-cert-file = /c.crt\n  tls-key-file=/c.key\ntls-ciphers = DEFAULT:!MEDIUM\ntls-verify-clients = yes\n'
  expect(parseTlsConfig(text, 'tls.conf')).toEqual({
    path: 'tls.conf',
    certFile: '/c.crt',
    keyFile: '/c.key',
    ciphers: 'DEFAULT:!MEDIUM',
    verifyClients: true,
  })
  expect(parseTlsConfig('', 'tls.conf')).toEqual({ path: 'tls.conf', verifyClients: false })
})

test.each([
  'tls-cert-file',
  'tls-cert-file =',
  'tls-cert = /c.crt',
  'tls-verify-clients = perhaps',
  'constructor = x',
])('refuses %j with its line number', (line) => {
  expect(() => parseTlsConfig(`#\n${line}\n`, 'tls.conf')).toThrow(
    expect.objectContaining({ code: 'PM_ERR_TLS', message: expect.stringMatching(/^tls\.conf line 2/) }),
  )
})

test('is found by its variable or beside the other settings; an unreadable file is an error, a missing one is not', () => {
  const conf = join(dir, 'pcp.conf')
  writeFileSync(conf, `PCP_SYSCONF_DIR=${dir}\n`)
  expect(loadTlsConfig({ PCP_CONF: conf })).toEqual({ path: join(dir, 'tls.conf'), verifyClients: false })
  writeFileSync(join(dir, 'tls.conf'), 'tls-ca-cert-file = /ca\n')
  expect(loadTlsConfig({ PCP_CONF: conf })).toMatchObject({ caFile: '/ca' })
  expect(() => loadTlsConfig({ PCP_CONF: conf, PCP_TLSCONF_PATH: dir })).toThrow(
    expect.objectContaining({ code: 'PM_ERR_TLS' }),
  )
})

test('CA certificates come from a file, a directory, or both', () => {
  const authorities = join(dir, 'authorities')
  mkdirSync(join(authorities, 'more'), { recursive: true })
  const config = { path: 'tls.conf', verifyClients: false }
  expect(readCas(config)).toBeUndefined()
  expect(() => readCas({ ...config, caDir: authorities })).toThrow(/no certificates in/)
  writeFileSync(join(authorities, 'a.pem'), '-----BEGIN CERTIFICATE-----\n')
  writeFileSync(join(authorities, 'README'), 'no certificate\n')
  expect(readCas({ ...config, caDir: authorities })).toHaveLength(1)
  expect(readCas({ ...config, caDir: authorities, caFile: join(authorities, 'a.pem') })).toHaveLength(2)
  expect(() => readCas({ ...config, caFile: join(dir, 'nosuch') })).toThrow(/Cannot read .*nosuch/)
})

test('a collector needs certificate and key, and an authority to verify clients', () => {
  const config = { path: 'tls.conf', verifyClients: false }
  expect(tlsServer(config)).toBeUndefined()
  expect(() => tlsServer({ ...config, certFile: '/c' })).toThrow(/belong together/)
  expect(() => tlsServer({ ...config, certFile: '/c', keyFile: '/k', verifyClients: true })).toThrow(
    /tls-verify-clients needs tls-ca-cert-file/,
  )
  writeFileSync(join(dir, 'c'), 'nonsense')
  expect(() => tlsServer({ ...config, certFile: join(dir, 'c'), keyFile: join(dir, 'c') })).toThrow(
    expect.objectContaining({
      code: 'PM_ERR_TLS',
      message: expect.stringMatching(/is not a certificate in PEM/),
    }),
  )
})
