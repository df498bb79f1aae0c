/** TLS started on a plain connection, both ends. docs/formats/wire.md §4.3, docs/explanation/security.md */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { SecureContext, SecureContextOptions, TLSSocket } from 'node:tls'
import { PcpError } from '../model/errors.ts'
import type { PduStream } from './connection.ts'
import { readCas, readPem, type TlsConfig } from './tls-config.ts'
import { readIdentity } from './tls-identity.ts'

/** A stream with a TLS handshake. */
export interface SecureStream extends PduStream {
  /** Resolves after the handshake. Never settles if it fails; the stream then ends with the reason. */
  readonly secured: Promise<TLSSocket>
}

/** Server side of TLS: certificate and requirements. */
export interface TlsServer {
  /** Encrypted clients need a certificate, whether or not encryption is required. */
  readonly verifiesClients: boolean
  /** Whether certificates of clients can be checked. */
  readonly hasCa: boolean
  /** Starts TLS on a client's socket. */
  readonly secure: (socket: Socket) => SecureStream
}

/** Peer of a TLS client. */
export interface TlsPeer {
  /** Name in messages. */
  readonly name: string
  /** Name or address used to connect; undefined for a unix socket. */
  readonly host: string | undefined
  /** On this machine, so that a certificate for this machine's name is acceptable too. */
  readonly isLocal: boolean
}

/**
 * Creates the server side of TLS; undefined when tls.conf names no certificate. Throws PM_ERR_TLS for an unusable
 * certificate, key or CA. Calls `warn` for a usable certificate that clients will reject.
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
    // A resumed session would inherit the result of an earlier certificate check.
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    honorCipherOrder: true,
  })
  if (warning !== undefined) warn(warning)
  return {
    verifiesClients: verifyClients,
    hasCa: ca !== undefined,
    secure: (socket) => {
      const { TLSSocket } = process.getBuiltinModule('node:tls')
      // The collector decides about the certificate, to answer with PCP's own error.
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

/** Returns whether the client presented a certificate that our CA signed. */
export function hasValidClientCertificate(socket: TLSSocket): boolean {
  // `authorized` is set by tls.Server only, which would have to own the listening socket.
  const { ssl } = socket as unknown as { ssl?: { verifyError?: () => Error | null | undefined } }
  const verifyError = ssl?.verifyError === undefined ? new Error('unknown') : ssl.verifyError()
  return socket.getPeerX509Certificate() !== undefined && (verifyError === null || verifyError === undefined)
}

/**
 * Creates the client side of TLS. The collector's certificate is verified if tls.conf names a CA. Throws PM_ERR_TLS for
 * unreadable files; later TLS errors end the stream with PM_ERR_TLS.
 */
export function tlsClient(
  config: TlsConfig,
  to: TlsPeer,
): { readonly isVerifying: boolean; readonly secure: (socket: Socket) => SecureStream } {
  const ca = readCas(config)
  const context = contextOf(config, { ...clientCertificate(config), ...(ca === undefined ? {} : { ca }) })
  const { connect, checkServerIdentity } = process.getBuiltinModule('node:tls')
  const names = namesOf(to)
  const secure = (socket: Socket): SecureStream => {
    const stream = connect({
      socket,
      secureContext: context,
      // SNI does not allow an address as server name.
      servername: names.find((name) => !process.getBuiltinModule('node:net').isIP(name)) ?? '',
      rejectUnauthorized: ca !== undefined,
      checkServerIdentity: (_host, certificate) => {
        if (to.host === undefined) return undefined // identified by the path of the socket
        const problems = names.map((name) => checkServerIdentity(name, certificate))
        return problems.includes(undefined) ? undefined : problems[0]
      },
    })
    return streamOf(socket, stream, 'secureConnect', (error) => explain(error, config))
  }
  return { isVerifying: ca !== undefined, secure }
}

/** Returns the names acceptable in the collector's certificate; the first is sent as SNI. */
function namesOf({ host, isLocal }: TlsPeer): string[] {
  const own = isLocal ? [process.getBuiltinModule('node:os').hostname()] : []
  return host === undefined ? own : [host, ...own]
}

/** Returns the configured client certificate, else the host's if its key is readable. */
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
    return {} // a daemon's key is private; a collector that requires a certificate will report it
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
  // An error of the underlying socket ends the TLS stream.
  socket.on('error', (error) => secure.destroy(error))
  return {
    readable: secure,
    writable: recordPerWrite(secure),
    // PCP 6.0.3 waits for its socket to become readable while a second PDU of the same TLS record is in its decrypted
    // buffer: a FETCH behind a PROFILE would be answered only with the next request.
    writesPdusSeparately: true,
    secured,
    mapError: (error, name) => {
      const { code = '' } = error as NodeJS.ErrnoException
      if (isSecure && !/^ERR_(SSL|TLS)/.test(code)) return PcpError.from(error, name)
      return new PcpError('PM_ERR_TLS', `${name}: TLS failed: ${describe(error)}`, { cause: error })
    },
  }
}

/** Writes each chunk as a TLS record of its own by waiting for the previous one. */
function recordPerWrite(secure: TLSSocket): Writable {
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

/** Returns what failed and a remedy. */
function explain(error: Error, { path, caFile, caDir }: TlsConfig): string {
  const { code = '' } = error as NodeJS.ErrnoException
  const { message } = error
  if (UNTRUSTED.test(code))
    return `its certificate is not signed by ${caFile ?? caDir} (${message}): see ${path}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is for another host (${message}): use the name in the certificate`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `${message}: renew the collector's certificate`
  if (/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/.test(code))
    return `${message}: it may require a client certificate, see tls-client-cert-file in ${path}`
  if (code === 'ECONNRESET') return 'the collector closed the connection'
  return message
}
