/**
 * Handshake of a client, up to its first request. docs/formats/wire.md §4, docs/explanation/security.md
 *
 *     creds ──► [tls] ──► [login] ──► [container] ──► open
 *
 * A failure is reported to the client and ends the connection.
 */
import { PcpError } from '../model/errors.ts'
import type { SaslServer, SaslStep } from '../net/sasl/server.ts'
import { attrText, decodeAttr, encodeAttr, PCP_ATTR_CONTAINER, PCP_ATTR_NONE } from '../wire/attr.ts'
import {
  decodeCreds,
  PDU_FLAG_AUTH,
  PDU_FLAG_CERT_REQD,
  PDU_FLAG_COMPRESS,
  PDU_FLAG_CONTAINER,
  PDU_FLAG_CREDS_REQD,
  PDU_FLAG_SECURE,
  PDU_FLAG_SECURE_ACK,
  versionOf,
} from '../wire/creds.ts'
import { encodeError } from '../wire/error.ts'
import { PDU_CREDS, pduType } from '../wire/pdu.ts'

/** Features offered to a client, and what it must do before its first request. */
export interface HandshakePolicy {
  /** PDU_FLAG_* offered besides those for all clients. */
  readonly features: number
  /** The client's user is unknown but required. */
  readonly needsLogin: boolean
  /** The client must use TLS with a certificate. */
  readonly needsCertificate: boolean
  readonly isUnix: boolean
  /** Starts TLS, then calls `done`, with an error if the client's certificate is not acceptable. */
  readonly secure?: (done: (error?: PcpError) => void) => void
  /** Begins an authentication. */
  readonly beginLogin?: (isPrivate: boolean) => SaslServer
  /** Logs a failed authentication. */
  readonly loginFailed?: (error: PcpError) => void
  /** The client authenticated as this user, or as guest (undefined). Throws PcpError if the user may not connect. */
  readonly loggedIn?: (user: string | undefined) => void
}

/** A policy without TLS and authentication. */
export const OPEN_HANDSHAKE_POLICY: HandshakePolicy = {
  features: 0,
  needsLogin: false,
  needsCertificate: false,
  isUnix: false,
}

/** The client, as far as its handshake needs it. */
export interface HandshakeClient {
  readonly send: (pdu: Uint8Array) => void
  readonly pause: () => void
  readonly resume: () => void
  readonly setContainer: (name: string) => void
  /** The handshake is complete. */
  readonly done: () => void
  /** Sends the client an error and disconnects it. */
  readonly refuse: (error: PcpError) => void
  /** Disconnects a peer that does not speak the protocol. */
  readonly drop: () => void
}

/** Features that a client may request if offered; all others are announcements. */
const REQUESTABLE =
  PDU_FLAG_SECURE |
  PDU_FLAG_SECURE_ACK |
  PDU_FLAG_AUTH |
  PDU_FLAG_CREDS_REQD |
  PDU_FLAG_CONTAINER |
  PDU_FLAG_CERT_REQD
/** Known features that are not offered are refused as 'not supported'; unknown ones are protocol errors. */
const KNOWN = REQUESTABLE | PDU_FLAG_COMPRESS

/** Returns the flags of CREDS; undefined if they have no version. Throws for flags that are not offered. */
export function flagsIn(pdu: Uint8Array, features: number): number | undefined {
  const { version, flags } = versionOf(decodeCreds(pdu))
  if (version === 0) return undefined
  const refused = flags & ~(features & REQUESTABLE)
  if ((refused & ~KNOWN) !== 0)
    throw new PcpError('PM_ERR_IPC', `Client requests unknown features 0x${refused.toString(16)}`)
  if (refused !== 0)
    throw new PcpError('ENOTSUP', `Client requests features 0x${refused.toString(16)} that are not offered`)
  return flags
}

/** The handshake of one client. */
export class Handshake {
  readonly #client: HandshakeClient
  readonly #gate: HandshakePolicy
  readonly #features: number
  #state: 'creds' | 'tls' | 'login' | 'container' | 'over' = 'creds'
  #flags = 0
  #isSecure = false
  #login: SaslServer | undefined

  /** `features` are all PDU_FLAG_* offered to the client. */
  constructor(client: HandshakeClient, gate: HandshakePolicy, features: number) {
    this.#client = client
    this.#gate = gate
    this.#features = features
  }

  /** Ends the handshake; pending steps have no effect. */
  end(): void {
    this.#state = 'over'
    this.#login?.end()
  }

  /** Processes a PDU; throws PcpError if the client must be refused. */
  receive(pdu: Uint8Array): void {
    switch (this.#state) {
      case 'creds':
        this.#creds(pdu)
        break
      case 'login':
        this.#message(pdu)
        break
      case 'container':
        this.#container(pdu)
        break
      case 'tls': // nothing arrives before the connection is secure
      case 'over':
    }
  }

  #creds(pdu: Uint8Array): void {
    if (pduType(pdu) !== PDU_CREDS) {
      this.#client.drop()
      return
    }
    const flags = flagsIn(pdu, this.#features)
    if (flags === undefined) return // no version yet: only another CREDS is acceptable
    this.#flags = flags
    const has = (flag: number): boolean => (flags & flag) !== 0
    if (this.#gate.needsCertificate && !has(PDU_FLAG_SECURE))
      throw new PcpError('PM_ERR_NEEDCLIENTCERT', 'A remote client without TLS')
    if (this.#gate.needsLogin && !this.#wantsLogin)
      throw new PcpError('PM_ERR_PERMISSION', 'A client without authentication')
    if (!has(PDU_FLAG_SECURE)) {
      this.#afterTls()
      return
    }
    this.#state = 'tls'
    if (has(PDU_FLAG_SECURE_ACK)) this.#client.send(encodeError(0))
    this.#gate.secure!((error) => {
      if (this.#state !== 'tls') return
      this.#isSecure = true
      if (error === undefined) this.#afterTls()
      else this.#client.refuse(error)
    })
  }

  /** On a unix socket the kernel identifies the user, so required credentials do not mean a password there. */
  get #wantsLogin(): boolean {
    const demanded = this.#gate.isUnix ? 0 : PDU_FLAG_CREDS_REQD
    return (this.#flags & (PDU_FLAG_AUTH | demanded)) !== 0
  }

  #afterTls(): void {
    if (!this.#wantsLogin) {
      this.#afterLogin()
      return
    }
    this.#state = 'login'
    this.#login = this.#gate.beginLogin!(this.#isSecure || this.#gate.isUnix)
    this.#client.send(encodeAttr(PCP_ATTR_NONE, this.#login.mechanisms))
  }

  /** Processes an authentication message. Later messages wait until it has been checked. */
  #message(pdu: Uint8Array): void {
    const { key, value } = decodeAttr(pdu)
    if (key !== PCP_ATTR_NONE)
      throw new PcpError('PM_ERR_IPC', `Expected an authentication, not attribute ${key}`)
    this.#client.pause()
    this.#login!.step(value)
      .then((step) => {
        if (this.#state === 'login') this.#step(step)
      })
      .catch((error: unknown) => {
        if (this.#state !== 'login') return
        const reason = PcpError.from(error)
        this.#gate.loginFailed?.(reason)
        this.#client.refuse(reason)
      })
  }

  #step(step: SaslStep): void {
    if ('challenge' in step) {
      this.#client.send(encodeAttr(PCP_ATTR_NONE, step.challenge))
    } else {
      this.#gate.loggedIn!(step.user)
      this.#afterLogin()
    }
    this.#client.resume()
  }

  #afterLogin(): void {
    if ((this.#flags & PDU_FLAG_CONTAINER) !== 0) this.#state = 'container'
    else this.#open()
  }

  #container(pdu: Uint8Array): void {
    const attr = decodeAttr(pdu)
    if (attr.key !== PCP_ATTR_CONTAINER)
      throw new PcpError('PM_ERR_IPC', `Expected a container, not attribute ${attr.key}`)
    this.#client.setContainer(attrText(attr))
    this.#open()
  }

  #open(): void {
    this.#state = 'over'
    this.#client.done()
  }
}
