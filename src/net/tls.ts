/** TLS over a connection that has begun in the clear, both ends. docs/formats/wire.md §4.3, docs/security.md */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { SecureContext, SecureContextOptions, TLSSocket } from 'node:tls'
import { PcpError } from '../model/errors.ts'
import type { PduStream } from './connection.ts'
import { readCas, readPem, type TlsConfig } from './tls-config.ts'
import { readIdentity } from './tls-identity.ts'

/** A stream that becomes secure. */
export interface SecureStream extends PduStream {
  /** Resolves when the handshake is done; never when it fails: the stream then ends with the reason. */
  readonly secured: Promise<TLSSocket>
}

/** A collector's certificate and what it demands of clients. */
export interface TlsServer {
  /** Clients that come encrypted need a certificate, whether they have to come encrypted or not. */
  readonly verifiesClients: boolean
  /** Can certificates of clients be checked? */
  readonly hasCa: boolean
  /** Makes a client's socket secure. */
  readonly secure: (socket: Socket) => SecureStream
}

/** Who to talk to securely. */
export interface SecureHost {
  /** For messages. */
  readonly name: string
  /** Name or address it was reached by; undefined for a unix socket. */
  readonly host: string | undefined
  /** Is it on this machine? Then it may show the certificate of this machine's name. */
  readonly isLocal: boolean
}

/**
 * What a collector encrypts with; undefined when tls.conf names no certificate. PM_ERR_TLS when certificate, key or
 * CA cannot be used; `warn` hears of a certificate that can, but which clients will refuse.
 */
export function tlsServer(
  config: TlsConfig,
  warn: (warning: string) => void = () => {},
): TlsServer | undefined {
  const { certFile, keyFile, path, verifyClients } = config
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new PcpError('PM_ERR_TLS', `${path}: tls-cert-file and tls-key-file belong together`)
  const ca = readCas(config)
  if (verifyClients && ca === undefined)
    throw new PcpError('PM_ERR_TLS', `${path}: tls-verify-clients needs tls-ca-cert-file or tls-ca-cert-dir`)
  const { constants } = process.getBuiltinModule('node:crypto')
  const { cert, key, warning } = readIdentity(certFile, keyFile)
  const context = contextOf(config, {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    // A resumed session would bring along what was checked, or not checked, when it began.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    honorCipherOrder: true,
  })
  if (warning !== undefined) warn(warning)
  return {
    verifiesClients: verifyClients,
    hasCa: ca !== undefined,
    secure: (socket) => {
      const { TLSSocket } = process.getBuiltinModule('node:tls')
      // Whether the certificate will do is the collector's to say, in PCP's words.
      const requestCert = ca !== undefined
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext: context,
        requestCert,
        rejectUnauthorized: false,
      })
      return streamOf(socket, secure, 'secure', (error) => error.message)
    },
  }
}

/** Has the client at the other end shown a certificate that our CA vouches for? */
export function hasGoodCertificate(socket: TLSSocket): boolean {
  // `authorized` is set by tls.Server only, which would have to own the listening socket.
  const { ssl } = socket as unknown as { ssl?: { verifyError?: () => Error | null | undefined } }
  const verifyError = ssl?.verifyError === undefined ? new Error('unknown') : ssl.verifyError()
  return socket.getPeerX509Certificate() !== undefined && (verifyError === null || verifyError === undefined)
}

/**
 * Makes a connection to a collector secure. The collector's certificate is checked when tls.conf names a CA. PM_ERR_TLS
 * at once when files cannot be read; later the stream ends with it.
 */
export function secureClient(
  config: TlsConfig,
  to: SecureHost,
): { readonly isVerifying: boolean; readonly secure: (socket: Socket) => SecureStream } {
  const ca = readCas(config)
  const context = contextOf(config, { ...clientCertificate(config), ...(ca === undefined ? {} : { ca }) })
  const { connect, checkServerIdentity } = process.getBuiltinModule('node:tls')
  const names = namesOf(to)
  const secure = (socket: Socket): SecureStream => {
    const stream = connect({
      socket,
      secureContext: context,
      // An address is no server name.
      servername: names.find((name) => !process.getBuiltinModule('node:net').isIP(name)) ?? '',
      rejectUnauthorized: ca !== undefined,
      checkServerIdentity: (_host, certificate) => {
        if (to.host === undefined) return undefined // the path of the socket says who it is
        const problems = names.map((name) => checkServerIdentity(name, certificate))
        return problems.includes(undefined) ? undefined : problems[0]
      },
    })
    return streamOf(socket, stream, 'secureConnect', (error) => explain(error, config))
  }
  return { isVerifying: ca !== undefined, secure }
}

/** Names a collector may show a certificate for; the first one is asked for. */
function namesOf({ host, isLocal }: SecureHost): string[] {
  const own = isLocal ? [process.getBuiltinModule('node:os').hostname()] : []
  return host === undefined ? own : [host, ...own]
}

/** A client without a certificate of its own shows the host's, where it may read the key. */
function clientCertificate(config: TlsConfig): SecureContextOptions {
  const { clientCertFile, clientKeyFile, certFile, keyFile, path } = config
  if (clientCertFile !== undefined || clientKeyFile !== undefined) {
    if (clientCertFile === undefined || clientKeyFile === undefined)
      throw new PcpError(
        'PM_ERR_TLS',
        `${path}: tls-client-cert-file and tls-client-key-file belong together`,
      )
    const { cert, key } = readIdentity(clientCertFile, clientKeyFile)
    return { cert, key }
  }
  if (certFile === undefined || keyFile === undefined) return {}
  try {
    return { cert: readPem(certFile), key: readPem(keyFile) }
  } catch {
    return {} // the key of a daemon is not for everybody; a collector that wants a certificate will say so
  }
}

function contextOf(config: TlsConfig, options: SecureContextOptions): SecureContext {
  const { createSecureContext, DEFAULT_CIPHERS } = process.getBuiltinModule('node:tls')
  const defaults = DEFAULT_CIPHERS.split(':')
  const suites = config.ciphersuites ?? defaults.filter((name) => name.startsWith('TLS_')).join(':')
  const ciphers = config.ciphers ?? defaults.filter((name) => !name.startsWith('TLS_')).join(':')
  try {
    return createSecureContext({ ...options, minVersion: 'TLSv1.2', ciphers: `${suites}:${ciphers}` })
  } catch (error) {
    const { message } = error as Error
    throw new PcpError(
      'PM_ERR_TLS',
      `Certificate, key or ciphers of ${config.path} cannot be used: ${message}`,
      {
        cause: error,
      },
    )
  }
}

function streamOf(
  socket: Socket,
  secure: TLSSocket,
  event: 'secure' | 'secureConnect',
  describe: (error: Error) => string,
): SecureStream {
  let isSecure = false
  const secured = new Promise<TLSSocket>((resolve) => {
    secure.once(event, () => {
      isSecure = true
      resolve(secure)
    })
  })
  // What happens to the socket underneath happens to us.
  socket.on('error', (error) => secure.destroy(error))
  return {
    readable: secure,
    writable: oneByOne(secure),
    // The reference waits for its socket to become readable while a second PDU of the same TLS record lies in its
    // decrypted buffer (6.0.3: a FETCH behind a PROFILE is answered when the next request comes).
    writesSingly: true,
    secured,
    explain: (error, name) => {
      const { code = '' } = error as NodeJS.ErrnoException
      if (isSecure && !/^ERR_(SSL|TLS)/.test(code)) return PcpError.from(error, name)
      return new PcpError('PM_ERR_TLS', `${name}: TLS failed: ${describe(error)}`, { cause: error })
    },
  }
}

/** Each chunk becomes a TLS record of its own: the next is written when the one before has gone. */
function oneByOne(secure: TLSSocket): Writable {
  const { Writable } = process.getBuiltinModule('node:stream')
  return new Writable({
    decodeStrings: false,
    write: (chunk: Uint8Array, _encoding, done) => {
      secure.write(chunk, done)
    },
    final: (done) => {
      secure.end(done)
    },
    destroy: (error, done) => {
      secure.destroy()
      done(error)
    },
  })
}

const UNTRUSTED =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_(UNTRUSTED|REJECTED|SIGNATURE)|INVALID_CA|CERT_CHAIN)/

/** What failed, and what to do about it. */
function explain(error: Error, { path, caFile, caDir }: TlsConfig): string {
  const { code = '' } = error as NodeJS.ErrnoException
  const { message } = error
  if (UNTRUSTED.test(code))
    return `its certificate is not one that ${caFile ?? caDir} vouches for (${message}): see ${path}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is for another host (${message}): use the name in the certificate`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return `${message}: renew it there`
  if (/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/.test(code))
    return `${message}: it may want a certificate of ours, see tls-client-cert-file in ${path}`
  if (code === 'ECONNRESET') return 'the collector gave up'
  return message
}
