/**
 * SCRAM-SHA-256, both ends, without channel binding. RFC 5802, RFC 7677
 *
 *     client                                   server
 *       n,,n=USER,r=NONCE            ──►
 *                                    ◄──       r=NONCE+MORE,s=SALT,i=ITERATIONS
 *       c=biws,r=NONCE+MORE,p=PROOF  ──►
 *                                    ◄──       v=SIGNATURE
 */
import { PcpError } from '../../model/errors.ts'
import {
  fakeVerifier,
  hmac,
  isEqual,
  KEY_BYTES,
  loadCrypto,
  saltPassword,
  saslPrep,
  sha256,
  type Verifier,
  verifierOf,
  xor,
} from './keys.ts'

const NONCE_BYTES = 18
/** Fewer iterations would make the password easy to guess for an eavesdropper, RFC 7677 §4. */
const MIN_ITERATIONS = 4096
/** A server that demands more would only waste our CPU time. */
const MAX_ITERATIONS = 1_000_000
const NO_BINDING = 'n,,'

/** A client's state after its first message. */
export interface ScramStart {
  readonly message: string
  readonly nonce: string
  /** The message without its header, which both ends sign. */
  readonly bare: string
}

/** Creates a client's first message. */
export function startScram(user: string, nonce: string = newNonce()): ScramStart {
  const bare = `n=${escapeName(saslPrep(user))},r=${nonce}`
  return { message: NO_BINDING + bare, nonce, bare }
}

/** Returns the client's proof of the password and the signature expected of the server. */
export async function proveScram(
  start: ScramStart,
  challenge: string,
  password: string,
): Promise<{ readonly message: string; readonly serverSignature: Uint8Array }> {
  const { r: nonce = '', s: salt = '', i = '' } = attributes(challenge)
  const iterations = /^\d{1,9}$/.test(i) ? Number(i) : 0
  if (!nonce.startsWith(start.nonce) || nonce === start.nonce || salt === '')
    throw new PcpError('SASL_BADPROT', 'The server answers another SCRAM conversation')
  if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS)
    throw new PcpError(
      'SASL_BADSERV',
      `The server demands ${iterations} SCRAM iterations; ${MIN_ITERATIONS} to ${MAX_ITERATIONS} are accepted`,
    )
  const saltBytes = fromBase64(salt)
  const salted = await saltPassword(password, saltBytes, iterations)
  const verifier = verifierOf(salted, saltBytes, iterations)
  const withoutProof = `c=${toBase64(Buffer.from(NO_BINDING))},r=${nonce}`
  const signed = `${start.bare},${challenge},${withoutProof}`
  const proof = xor(hmac(salted, 'Client Key'), hmac(verifier.storedKey, signed))
  return {
    message: `${withoutProof},p=${toBase64(proof)}`,
    serverSignature: hmac(verifier.serverKey, signed),
  }
}

/** Checks a server's last message. SASL_BADAUTH when the server does not know the password either. */
export function checkServer(message: string, serverSignature: Uint8Array): void {
  const { v = '', e } = attributes(message)
  if (e !== undefined) throw new PcpError('SASL_BADAUTH', `The server refuses: ${e}`)
  if (!isEqual(fromBase64(v), serverSignature))
    throw new PcpError(
      'SASL_BADSERV',
      'The server does not know the password it checks: it may be an impostor',
    )
}

/** A server's state after a client's first message. */
export interface ScramExchange {
  readonly user: string
  readonly challenge: string
  readonly verifier: Verifier
  readonly nonce: string
  /** The header of the client's message, which it repeats in its second. */
  readonly header: string
  /** Both messages so far, as both ends sign them. */
  readonly signed: string
}

/** Looks up verifiers, and holds the secret for those of unknown users. */
export interface VerifierStore {
  readonly find: (user: string) => Verifier | undefined
  readonly secret: Uint8Array
}

/** Returns the verifier of a user; a fake one for unknown users. */
export function verifierFor(user: string, { find, secret }: VerifierStore): Verifier {
  const fake = fakeVerifier(user, secret) // also made for known users, so that timing reveals nothing
  return find(user) ?? fake
}

/** Answers a client's first message, also for unknown users. */
export function challengeScram(
  message: string,
  verifiers: VerifierStore,
  extraNonce: string = newNonce(),
): ScramExchange {
  // [ny],[a=AUTHZID],n=USER,r=NONCE and optional extensions; p= would be a channel binding, which is not offered.
  const match = /^([ny],(?:a=([^,]*))?,)(n=([^,]+),r=([\x21-\x2b\x2d-\x7e]{8,})(?:,[^m].*)?)$/s.exec(message)
  if (match === null) throw new PcpError('SASL_BADPROT', 'Not the first message of SCRAM')
  const [, header, authzid = '', bare, name, clientNonce] = match
  const user = unescapeName(name!)
  if (authzid !== '' && unescapeName(authzid) !== user)
    throw new PcpError('SASL_NOAUTHZ', `"${user}" requested to act for another user`)
  const verifier = verifierFor(user, verifiers)
  const nonce = clientNonce! + extraNonce
  const challenge = `r=${nonce},s=${toBase64(verifier.salt)},i=${verifier.iterations}`
  return { user, challenge, verifier, nonce, header: header!, signed: `${bare},${challenge}` }
}

/** Checks a client's proof and returns the server's last message. */
export function verifyScram(exchange: ScramExchange, message: string): string {
  const match = /^(c=([^,]*),r=([^,]*)(?:,[^p].*?)?),p=([^,]*)$/s.exec(message)
  if (match === null) throw new PcpError('SASL_BADPROT', 'Not the second message of SCRAM')
  const [, withoutProof, binding, nonce, proof] = match
  if (nonce !== exchange.nonce || binding !== toBase64(Buffer.from(exchange.header)))
    throw new PcpError('SASL_BADPROT', 'The second message of SCRAM does not fit the first')
  const { storedKey, serverKey } = exchange.verifier
  const signed = `${exchange.signed},${withoutProof}`
  const given = fromBase64(proof!)
  const isRight =
    given.length === KEY_BYTES && isEqual(sha256(xor(given, hmac(storedKey, signed))), storedKey)
  if (!isRight) throw new PcpError('SASL_BADAUTH', `Wrong name or password: ${JSON.stringify(exchange.user)}`)
  return `v=${toBase64(hmac(serverKey, signed))}`
}

function newNonce(): string {
  return loadCrypto().randomBytes(NONCE_BYTES).toString('base64')
}

/** Parses the attributes of a message by letter; the first of each letter counts. */
function attributes(message: string): Readonly<Partial<Record<string, string>>> {
  const found: Partial<Record<string, string>> = {}
  for (const part of message.split(',')) if (part[1] === '=') found[part[0]!] ??= part.slice(2)
  return found
}

function escapeName(name: string): string {
  return name.replaceAll('=', '=3D').replaceAll(',', '=2C')
}

function unescapeName(name: string): string {
  if (/=(?!2C|3D)/.test(name)) throw new PcpError('SASL_BADPROT', 'A bad escape in a user name')
  return saslPrep(name.replaceAll('=2C', ',').replaceAll('=3D', '='))
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, 'base64')
}
