/** Both ends of an authentication. */
import { beforeAll, expect, test } from 'vitest'
import { encodeText } from '../../../src/base/text.ts'
import { authenticate, type Channel, GUEST_LOGIN, type Login } from '../../../src/net/sasl/client.ts'
import { makeVerifier, type Verifier } from '../../../src/net/sasl/keys.ts'
import { Authenticator, type SaslServer, type SaslStep } from '../../../src/net/sasl/server.ts'

const HERE = { address: undefined }

let verifier: Verifier
let authenticator: Authenticator

beforeAll(async () => {
  verifier = await makeVerifier('p\u00e4ss,word=1')
  authenticator = new Authenticator((name) => (name === 'j=o,e' ? verifier : undefined))
})

/** Runs an exchange between a client and a server; resolves to the authenticated user and the messages. */
async function talk(
  server: SaslServer,
  login: Login,
  channel: Channel,
): Promise<{ user: string | undefined; said: string[] }> {
  const said: string[] = []
  const steps: (SaslStep | Promise<SaslStep>)[] = [{ challenge: encodeText(server.mechanisms) }]
  await authenticate(login, channel, {
    send: (message) => {
      said.push(Buffer.from(message).toString())
      steps.push(server.step(message))
    },
    receive: async () => {
      const step = await steps.shift()!
      return 'challenge' in step ? step.challenge : new Uint8Array(0)
    },
  })
  const end = await steps.shift()
  return { user: end !== undefined && 'user' in end ? end.user : undefined, said }
}

const joe = { user: 'j=o,e', password: 'p\u00e4ss,word=1' }
const clear = { isPrivate: false, isVerified: false }
const secret = { isPrivate: true, isVerified: false }
const trusted = { isPrivate: true, isVerified: true }

test('SCRAM is preferred, and names and passwords may have any characters', async () => {
  const { user, said } = await talk(authenticator.begin(false, HERE), joe, clear)
  expect(user).toBe('j=o,e')
  expect(said[0]).toMatch(/^SCRAM-SHA-256\0n,,n=j=3Do=2Ce,r=/)
  expect(said).toHaveLength(3)
  expect(said[2]).toBe('')
})

test('the same password, typed with a combining accent, is the same password', async () => {
  const { user } = await talk(
    authenticator.begin(false, HERE),
    { ...joe, password: 'pa\u0308ss,word=1' },
    clear,
  )
  expect(user).toBe('j=o,e')
})

test('PLAIN is used on private connections only', async () => {
  expect(authenticator.begin(false, HERE).mechanisms).toBe('SCRAM-SHA-256')
  expect(authenticator.begin(true, HERE).mechanisms).toBe('SCRAM-SHA-256 PLAIN')
  const { user, said } = await talk(authenticator.begin(true, HERE), { ...joe, method: 'plain' }, secret)
  expect(user).toBe('j=o,e')
  expect(said).toEqual(['PLAIN\0\0j=o,e\0p\u00e4ss,word=1'])
  await expect(talk(authenticator.begin(true, HERE), { ...joe, method: 'plain' }, clear)).rejects.toThrow(
    /in the clear/,
  )
})

test('a client may drop its identity if the server accepts guests', async () => {
  const server = new Authenticator(undefined).begin(true, HERE, true)
  expect(server.mechanisms).toBe('X-LOCAL-GUEST')
  const { user, said } = await talk(server, GUEST_LOGIN, secret)
  expect([user, said]).toEqual([undefined, ['X-LOCAL-GUEST']])
  const other = authenticator.begin(true, HERE)
  await expect(talk(other, GUEST_LOGIN, trusted)).rejects.toThrow(/No common way/)
  await expect(other.step(encodeText('X-LOCAL-GUEST'))).rejects.toThrow(
    /Mechanism "X-LOCAL-GUEST" is not offered/,
  )
  // Clients become guests only on request.
  expect((await talk(authenticator.begin(true, HERE, true), joe, trusted)).user).toBe('j=o,e')
})

test('a server that offers only PLAIN gets a password only if verified or requested by the user', async () => {
  const receive = async () => encodeText('PLAIN')
  const sent: string[] = []
  const transport = { receive, send: (message: Uint8Array) => sent.push(Buffer.from(message).toString()) }
  await expect(authenticate(joe, secret, transport)).rejects.toMatchObject({ code: 'EACCES' })
  await expect(authenticate(joe, clear, transport)).rejects.toMatchObject({ code: 'EACCES' })
  expect(sent).toEqual([])
  await authenticate(joe, trusted, transport)
  await authenticate({ ...joe, method: 'PLAIN' }, secret, transport)
  expect(sent).toHaveLength(2)
})

test.each([
  ['SCRAM-SHA-256', { ...joe, password: 'wrong' }],
  ['SCRAM-SHA-256', { ...joe, user: 'ghost' }],
  ['PLAIN', { ...joe, password: 'wrong' }],
  ['PLAIN', { ...joe, user: 'ghost' }],
])('%s with a wrong name or password fails in the same way', async (method, login) => {
  await expect(talk(authenticator.begin(true, HERE), { ...login, method }, trusted)).rejects.toMatchObject({
    status: -21357,
    message: expect.stringMatching(/^Wrong name or password/),
  })
})

test.each([
  ['NOSUCH\0', -21348],
  ['PLAIN\0\0joe\0secret', -21348],
  ['SCRAM-SHA-256\0', 'challenge'],
  ['SCRAM-SHA-256', 'challenge'],
  ['SCRAM-SHA-256\0garbage', -21349],
  ['x'.repeat(2048), -21349],
])('the server answers %j in the clear with %s', async (message, outcome) => {
  const step = authenticator.begin(false, HERE).step(encodeText(message))
  if (outcome === 'challenge') expect(await step).toEqual({ challenge: new Uint8Array(0) })
  else await expect(step).rejects.toMatchObject({ status: outcome })
})

test.each([
  ['PLAIN\0\0joe', -21349],
  ['PLAIN\0\0\0secret', -21349],
  ['PLAIN\0\0joe\0', -21349],
  ['PLAIN\0\0joe\0a\0b', -21349],
  ['PLAIN\0admin\0joe\0secret', -21358],
])('the server answers %j over TLS with %s', async (message, status) => {
  await expect(authenticator.begin(true, HERE).step(encodeText(message))).rejects.toMatchObject({ status })
})

test('an error lists the offered mechanisms if the client supports none of them', async () => {
  await expect(
    talk(authenticator.begin(false, HERE), { ...joe, method: 'gssapi' }, clear),
  ).rejects.toMatchObject({
    status: -21348,
    message: expect.stringMatching(/offers SCRAM-SHA-256.*requested is gssapi/),
  })
})

test('clients that left do not delay the password checks of others', async () => {
  const looked: string[] = []
  const gone: [SaslServer, Promise<unknown>][] = []
  const busy = new Authenticator((name) => {
    looked.push(name)
    if (name === 'gone1') for (const [server] of gone) server.end()
    return undefined
  })
  const attempt = (name: string): [SaslServer, Promise<unknown>] => {
    const server = busy.begin(true, HERE)
    return [server, server.step(encodeText(`PLAIN\0\0${name}\0x`)).catch((error: unknown) => error)]
  }
  for (let i = 0; i < 20; i++) gone.push(attempt(`gone${i}`))
  const [, judged] = attempt('there')
  expect(await judged).toMatchObject({ status: -21357 })
  expect(looked).toEqual(['gone0', 'gone1', 'there'])
})
