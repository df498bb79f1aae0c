/** The server's end of an authentication. docs/formats/wire.md §4.3, docs/explanation/security.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError, statusOf } from '../../model/errors.ts'
import type { ClientOrigin } from '../client-origin.ts'
import { LoginAttempts } from '../login-attempts.ts'
import { checkPassword, KEY_BYTES, loadCrypto, saslPrep, type Verifier } from './keys.ts'
import { GUEST_MECHANISM, MAX_PAYLOAD, MECHANISMS, type Mechanism } from './mechanism.ts'
import { challengeScram, type ScramExchange, type VerifierStore, verifierFor, verifyScram } from './scram.ts'

/** Result of a client's message: another challenge, or the authenticated user (undefined for a guest). */
export type SaslStep = { readonly challenge: Uint8Array } | { readonly user: string | undefined }

/** Finds the verifier of a user. */
export type FindVerifier = (user: string) => Verifier | undefined

const EMPTY = new Uint8Array(0)
const WRONG = statusOf('SASL_BADAUTH')
/** Concurrent password checks; each occupies a thread of Node's pool. */
const MAX_CHECKS = 2

/** Authenticates many clients, limiting concurrent checks. */
export class Authenticator {
  readonly #find: FindVerifier | undefined
  readonly #attempts: LoginAttempts
  #secret: Uint8Array | undefined
  #checks = 0
  readonly #waiting: (() => void)[] = []

  /** Without `find` only guests can be accepted. */
  constructor(find: FindVerifier | undefined, attempts: LoginAttempts = new LoginAttempts()) {
    this.#find = find
    this.#attempts = attempts
  }

  get #verifiers(): VerifierStore {
    this.#secret ??= loadCrypto().randomBytes(KEY_BYTES)
    return { find: this.#find ?? (() => undefined), secret: this.#secret }
  }

  /** Begins an exchange with one client. On a connection that is not private, PLAIN is not offered. */
  begin(isPrivate: boolean, origin: ClientOrigin, takesGuests = false): SaslServer {
    const known = this.#find === undefined ? [] : MECHANISMS
    const offered: Offered[] = known.filter((name) => name !== 'PLAIN' || isPrivate)
    if (takesGuests) offered.push(GUEST_MECHANISM)
    return new SaslServer(offered, this.#verifiers, {
      attempt: (...attempt) => this.#attempt(origin, ...attempt),
      isRight: (...login) => this.#isRight(...login),
    })
  }

  async #attempt<T>(
    origin: ClientOrigin,
    user: string,
    signal: AbortSignal,
    check: () => T | Promise<T>,
  ): Promise<T> {
    const giveVerdict = await this.#attempts.begin(origin, user, signal)
    try {
      const result = await check()
      giveVerdict('right')
      return result
    } catch (error) {
      giveVerdict(PcpError.from(error).status === WRONG ? 'wrong' : 'unknown')
      throw error
    }
  }

  async #isRight(user: string, password: string, signal: AbortSignal): Promise<boolean> {
    while (this.#checks >= MAX_CHECKS) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#checks++
    try {
      // Otherwise clients that connect, send a password and leave would starve all others.
      if (signal.aborted) throw new PcpError('SASL_BADPROT', 'The client did not wait for the verdict')
      return await checkPassword(password, verifierFor(user, this.#verifiers))
    } finally {
      this.#checks--
      this.#waiting.shift()?.()
    }
  }
}

/** A mechanism that a client may choose. */
type Offered = Mechanism | typeof GUEST_MECHANISM

/** Services of the authenticator that an exchange uses. */
interface Checks {
  /** Runs `check`, which throws SASL_BADAUTH for a wrong password, once this client may make an attempt. */
  readonly attempt: <T>(user: string, signal: AbortSignal, check: () => T | Promise<T>) => Promise<T>
  /** Returns whether this is the user's password. Rejects if the client leaves before its turn. */
  readonly isRight: (user: string, password: string, signal: AbortSignal) => Promise<boolean>
}

/**
 * One exchange. The first message names a mechanism, later ones belong to that mechanism:
 *
 *     start ──► scram ──► proof ──► user
 *       ├─────► plain ────────────► user
 *       └─────────────────────────► guest
 */
export class SaslServer {
  /** Names of the mechanisms offered, as they are sent. */
  readonly mechanisms: string
  readonly #verifiers: VerifierStore
  readonly #checks: Checks
  readonly #gone = new AbortController()
  #next: (message: Uint8Array) => SaslStep | Promise<SaslStep>

  constructor(offered: readonly Offered[], verifiers: VerifierStore, checks: Checks) {
    this.mechanisms = offered.join(' ')
    this.#verifiers = verifiers
    this.#checks = checks
    this.#next = (message) => this.#start(message, offered)
  }

  /** Processes a client's message without keeping it. Rejects with a SASL status, which ends the exchange. */
  async step(message: Uint8Array): Promise<SaslStep> {
    if (message.length >= MAX_PAYLOAD)
      throw new PcpError('SASL_BADPROT', `A message of ${message.length} bytes`)
    return this.#next(message)
  }

  /** Ends the exchange because the client left; a waiting password check is canceled. */
  end(): void {
    this.#gone.abort()
  }

  #start(message: Uint8Array, offered: readonly Offered[]): SaslStep | Promise<SaslStep> {
    const nul = message.indexOf(0)
    const name = decodeText(message, 0, nul < 0 ? message.length : nul)
    const mechanism = offered.find((candidate) => candidate === name.toUpperCase())
    if (mechanism === undefined)
      throw new PcpError(
        'SASL_NOMECH',
        `Mechanism ${JSON.stringify(name)} is not offered: use ${this.mechanisms}`,
      )
    if (mechanism === GUEST_MECHANISM) return { user: undefined }
    this.#next = (first) => (mechanism === 'PLAIN' ? this.#plain(first) : this.#scram(first))
    const first = nul < 0 ? EMPTY : message.subarray(nul + 1)
    return first.length === 0 ? { challenge: EMPTY } : this.#next(first)
  }

  async #plain(message: Uint8Array): Promise<SaslStep> {
    const [authzid, name, password, ...more] = decodeText(message).split('\0')
    if (name === undefined || name === '' || password === undefined || password === '' || more.length > 0)
      throw new PcpError('SASL_BADPROT', 'Not a message of PLAIN')
    const user = saslPrep(name)
    if (authzid !== '' && authzid !== name)
      throw new PcpError('SASL_NOAUTHZ', `${JSON.stringify(user)} requested to act for another user`)
    const { signal } = this.#gone
    return this.#checks.attempt(user, signal, async () => {
      if (!(await this.#checks.isRight(user, password, signal)))
        throw new PcpError('SASL_BADAUTH', `Wrong name or password: ${JSON.stringify(user)}`)
      return { user }
    })
  }

  #scram(message: Uint8Array): SaslStep {
    const exchange = challengeScram(decodeText(message), this.#verifiers)
    this.#next = (proof) => this.#proof(exchange, proof)
    return { challenge: encodeText(exchange.challenge) }
  }

  async #proof(exchange: ScramExchange, message: Uint8Array): Promise<SaslStep> {
    const proof = decodeText(message)
    const verify = (): string => verifyScram(exchange, proof)
    const final = await this.#checks.attempt(exchange.user, this.#gone.signal, verify)
    // The client answers the last message too, with an empty one.
    this.#next = (answer) => {
      if (answer.length > 0) throw new PcpError('SASL_BADPROT', 'A message after the end of SCRAM')
      return { user: exchange.user }
    }
    return { challenge: encodeText(final) }
  }
}
