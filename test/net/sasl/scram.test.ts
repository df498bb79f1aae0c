import { describe, expect, test } from 'vitest'
import { makeVerifier, saltPassword, verifierOf } from '../../../src/net/sasl/keys.ts'
import {
  challengeScram,
  checkServer,
  proveScram,
  startScram,
  verifyScram,
} from '../../../src/net/sasl/scram.ts'
import { bytesOf, VECTORS } from '../../wire/vectors.ts'

/** Returns the text of a recorded SASL message, without the mechanism's name. */
function recorded(name: string): string {
  const vector = VECTORS.find((candidate) => candidate.name === `handshake/scram.${name}`)
  const text = Buffer.from(bytesOf(vector!.hex)).subarray(16).toString()
  return text.slice(text.indexOf('\0') + 1)
}

const PASSWORD = 'wirepass'
const secret = new Uint8Array(32)

/** The conversation of RFC 7677 §3. */
const RFC = {
  nonce: 'rOprNGfwEbeRWgbNEkqO',
  challenge: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  proof:
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  final: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
}

describe('the client', () => {
  test('sends the messages of RFC 7677', async () => {
    const start = startScram('user', RFC.nonce)
    expect(start.message).toBe(`n,,n=user,r=${RFC.nonce}`)
    const { message, serverSignature } = await proveScram(start, RFC.challenge, 'pencil')
    expect(message).toBe(RFC.proof)
    expect(() => checkServer(RFC.final, serverSignature)).not.toThrow()
  })

  test('sends messages that the reference accepted, and accepts its messages', async () => {
    const start = startScram('root', /r=(.*)$/.exec(recorded('start'))![1])
    expect(start.message).toBe(recorded('start'))
    const { message, serverSignature } = await proveScram(start, recorded('challenge'), PASSWORD)
    expect(message).toBe(recorded('proof'))
    checkServer(recorded('server_final'), serverSignature)
  })

  test('refuses a server that does not know the password', async () => {
    const { serverSignature } = await proveScram(startScram('user', RFC.nonce), RFC.challenge, 'pencil2')
    expect(() => checkServer(RFC.final, serverSignature)).toThrow(/impostor/)
    expect(() => checkServer('v=', serverSignature)).toThrow(/impostor/)
    expect(() => checkServer('', serverSignature)).toThrow(/impostor/)
    expect(() => checkServer('e=other-error', serverSignature)).toThrow(/other-error/)
  })

  test.each([
    ['another nonce', 'r=other,s=W22Z,i=4096', -21349],
    ['its own nonce alone', `r=${RFC.nonce},s=W22Z,i=4096`, -21349],
    ['no salt', `r=${RFC.nonce}x,i=4096`, -21349],
    ['few iterations', `r=${RFC.nonce}x,s=W22Z,i=1`, -21354],
    ['endless iterations', `r=${RFC.nonce}x,s=W22Z,i=100000000`, -21354],
    ['nothing', '', -21349],
  ])('refuses a challenge with %s', async (_what, challenge, status) => {
    await expect(proveScram(startScram('user', RFC.nonce), challenge, 'pencil')).rejects.toMatchObject({
      status,
    })
  })

  test('escapes characters that would end a name', () => {
    expect(startScram('a=b,c', 'nonce').message).toBe('n,,n=a=3Db=2Cc,r=nonce')
  })
})

describe('the server', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
  const rfcVerifier = async () => verifierOf(await saltPassword('pencil', salt, 4096), salt, 4096)

  test('sends the messages of RFC 7677', async () => {
    const verifier = await rfcVerifier()
    const exchange = challengeScram(
      `n,,n=user,r=${RFC.nonce}`,
      { find: (name) => (name === 'user' ? verifier : undefined), secret },
      '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0',
    )
    expect(exchange).toMatchObject({ user: 'user', challenge: RFC.challenge })
    expect(verifyScram(exchange, RFC.proof)).toBe(RFC.final)
  })

  test('refuses a wrong proof, a replayed one and a malformed one', async () => {
    const verifier = await rfcVerifier()
    const begin = () => challengeScram(`n,,n=user,r=${RFC.nonce}`, { find: () => verifier, secret })
    const exchange = begin()
    const { message } = await proveScram(startScram('user', RFC.nonce), exchange.challenge, 'pencil')
    expect(verifyScram(exchange, message)).toMatch(/^v=/)
    expect(() => verifyScram(begin(), message)).toThrow(/does not fit/)
    const other = await proveScram(startScram('user', RFC.nonce), exchange.challenge, 'pencils')
    expect(() => verifyScram(exchange, other.message)).toThrow(/Wrong name or password: "user"/)
    for (const bad of ['', 'c=biws', message.replace('biws', 'eSws'), message.slice(0, -5), `${message},x=1`])
      expect(() => verifyScram(exchange, bad), bad).toThrow()
  })

  test('answers an unknown user like a known one, and always with the same salt', async () => {
    const ask = () => challengeScram('n,,n=ghost,r=abcdefgh', { find: () => undefined, secret }).challenge
    const [first, second] = [ask(), ask()]
    const saltOf = (challenge: string) => /s=([^,]*),i=16384$/.exec(challenge)?.[1]
    expect(saltOf(first)).toBe(saltOf(second))
    const known = await makeVerifier('secret')
    expect(Buffer.from(saltOf(first)!, 'base64')).toHaveLength(known.salt.length)
    const exchange = challengeScram('n,,n=ghost,r=abcdefgh', { find: () => undefined, secret })
    const { message } = await proveScram(startScram('ghost', 'abcdefgh'), exchange.challenge, '')
    expect(() => verifyScram(exchange, message)).toThrow(/Wrong name or password/)
  })

  test.each([
    ['', -21349],
    ['n,,n=user', -21349],
    ['n,,n=,r=abcdefgh', -21349],
    ['p=tls-unique,,n=user,r=abcdefgh', -21349],
    ['n,,m=ext,n=user,r=abcdefgh', -21349],
    ['n,,n=us=2Der,r=abcdefgh', -21349],
    ['n,a=admin,n=user,r=abcdefgh', -21358],
  ])('refuses to begin with %j', (message, status) => {
    expect(() => challengeScram(message, { find: () => undefined, secret })).toThrow(
      expect.objectContaining({ status }),
    )
  })
})
