/** tls.conf: certificates, keys and ciphers for encrypted connections. docs/explanation/security.md */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { loadConfig } from '../sys/config.ts'
import type { Env } from './host-spec.ts'

/** Settings of tls.conf. */
export interface TlsConfig {
  /** Path of the file, even if it does not exist. */
  readonly path: string
  readonly certFile?: string
  readonly keyFile?: string
  readonly clientCertFile?: string
  readonly clientKeyFile?: string
  readonly caFile?: string
  readonly caDir?: string
  /** For TLS 1.2, in OpenSSL's notation. */
  readonly ciphers?: string
  /** For TLS 1.3. */
  readonly ciphersuites?: string
  /** Encrypted clients must present a certificate. */
  readonly verifyClients: boolean
}

type Key = Exclude<keyof TlsConfig, 'path' | 'verifyClients'>

const KEYS: Readonly<Record<string, Key>> = {
  'tls-cert-file': 'certFile',
  'tls-key-file': 'keyFile',
  'tls-client-cert-file': 'clientCertFile',
  'tls-client-key-file': 'clientKeyFile',
  'tls-ca-cert-file': 'caFile',
  'tls-ca-cert-dir': 'caDir',
  'tls-ciphers': 'ciphers',
  'tls-ciphersuites': 'ciphersuites',
}
const VERIFY = 'tls-verify-clients'

/**
 * Reads $PCP_TLSCONF_PATH, or tls.conf in PCP's configuration directory. A missing file has no settings. An unreadable
 * file or an invalid line is PM_ERR_TLS: a typing error must not weaken encryption.
 */
export function loadTlsConfig(env: Env): TlsConfig {
  const { variables } = loadConfig(env)
  const path = variables['PCP_TLSCONF_PATH'] || join(variables['PCP_SYSCONF_DIR']!, 'tls.conf')
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw unreadable(path, error)
  }
  return parseTlsConfig(text, path)
}

/** Parses `key = value` lines and # comments. Throws PM_ERR_TLS with the line number. */
export function parseTlsConfig(text: string, path: string): TlsConfig {
  const found: Partial<Record<Key, string>> = {}
  let verifyClients = false
  text.split('\n').forEach((raw, i) => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return
    const [, name = '', value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? []
    const key = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined
    if (value === '' || (key === undefined && name !== VERIFY))
      throw new PcpError('PM_ERR_TLS', `${path} line ${i + 1}: not a setting: ${line}`)
    if (key !== undefined) found[key] = value
    else verifyClients = isTrue(value, `${path} line ${i + 1}`)
  })
  return { path, ...found, verifyClients }
}

function isTrue(value: string, where: string): boolean {
  if (/^(true|yes|on|1)$/i.test(value)) return true
  if (/^(false|no|off|0)$/i.test(value)) return false
  throw new PcpError('PM_ERR_TLS', `${where}: ${VERIFY} must be true or false, not ${value}`)
}

/** Reads a file named in tls.conf. Throws PM_ERR_TLS. */
export function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Reads the CA certificates; undefined when none are configured. Throws PM_ERR_TLS. */
export function readCas({ caFile, caDir, path }: TlsConfig): string[] | undefined {
  if (caFile === undefined && caDir === undefined) return undefined
  const cas = caFile === undefined ? [] : [readPem(caFile)]
  if (caDir !== undefined) cas.push(...readDirectory(caDir))
  if (cas.length === 0) throw new PcpError('PM_ERR_TLS', `${path}: no certificates in ${caDir}`)
  return cas
}

/** Returns the certificates in a directory, which may contain other files. */
function readDirectory(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => readFileSync(join(dir, entry.name), 'utf8'))
      .filter((text) => text.includes('-----BEGIN CERTIFICATE-----'))
  } catch (error) {
    throw unreadable(dir, error)
  }
}

function unreadable(path: string, error: unknown): PcpError {
  const { text } = PcpError.from(error)
  return new PcpError('PM_ERR_TLS', `Cannot read ${path}: ${text}`, { cause: error })
}
