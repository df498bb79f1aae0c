/** Encrypted connections to a key server, with a certificate of a private CA. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { configOf } from '../../src/pmproxy/config.ts'
import { parseIni } from '../../src/pmproxy/ini.ts'
import { tool } from '../../src/tools/pmseries/index.ts'
import { startWebServer } from '../lib/web-server.ts'
import { testIo } from '../tools/run-tool.ts'

const hasServer = spawnSync('redis-server', ['--version']).status === 0
if (!hasServer) console.log('TLS to key servers: not tested without redis-server')

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Makes a certificate for localhost that is its own CA. */
function makeCertificate(dir: string, name: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(dir, `${name}.pem`), join(dir, `${name}.key`)]
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const files = ['-keyout', key, '-out', cert]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...about, ...files],
    {
      stdio: 'ignore',
    },
  )
  return { cert, key }
}

it.skipIf(!hasServer)('pmseries and pmproxy connect with TLS, and report a wrong certificate', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'key-tls-'))
  cleanUps.push(() => rmSync(dir, { recursive: true }))
  const [right, wrong] = [makeCertificate(dir, 'right'), makeCertificate(dir, 'wrong')]
  const port = await freePort()
  const tls = ['--tls-port', String(port), '--tls-cert-file', right.cert, '--tls-key-file', right.key]
  const more = ['--tls-ca-cert-file', right.cert, '--tls-auth-clients', 'no', '--save', '', '--dir', dir]
  const server = spawn('redis-server', ['--port', '0', '--bind', '127.0.0.1', ...tls, ...more], {
    stdio: 'pipe',
  })
  cleanUps.push(async () => {
    server.kill('SIGKILL')
    await once(server, 'exit')
  })
  await new Promise<void>((resolve) => {
    server.stdout.on('data', (piece: Buffer) => {
      if (piece.toString().includes('Ready to accept connections')) resolve()
    })
  })
  const ask = async (ca: string): Promise<{ status: number; stderr: string }> => {
    const conf = join(dir, 'pmseries.conf')
    writeFileSync(conf, `[keys]\nservers = localhost:${port}\ntls = true\ntls.ca = ${ca}\n`)
    const io = testIo('pmseries', ['-c', conf, '-m'])
    return { status: await tool.run(io), stderr: io.printed.stderr }
  }
  expect(await ask(right.cert)).toEqual({ status: 0, stderr: '' })
  const refused = await ask(wrong.cert)
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/localhost.*certificate/)
  for (const [ca, notice] of [
    [right.cert, /Series are those of key server/],
    [wrong.cert, /localhost.*certificate/],
  ] as const) {
    const text = `[keys]\nservers = localhost:${port}\ntls = true\ntls.ca = ${ca}\n[discover]\nenabled = false\n`
    const proxy = await startWebServer(
      ['simple'],
      configOf(parseIni(text), {}, () => undefined),
    )
    cleanUps.push(() => proxy.close())
    await proxy.ask('/series/metrics')
    expect(proxy.notices.join()).toMatch(notice)
  }
})
