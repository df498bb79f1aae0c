/** Prompting for a password missing in a host specification. */
import { expect, test } from 'vitest'
import { hostAttr, parseHostSpec } from '../../../src/net/host-spec.ts'
import { completeLogin } from '../../../src/tools/lib/login.ts'

async function complete(text: string, answer?: Promise<string | undefined>) {
  const asked: string[] = []
  const spec = await completeLogin(parseHostSpec(text), (user) => {
    asked.push(user)
    return answer
  })
  return { asked, password: hostAttr(spec, 'password'), text: spec.text }
}

test('prompts for a missing password', async () => {
  const spec = 'h?username=me'
  expect(await complete(spec, Promise.resolve('secret'))).toEqual({
    asked: ['me'],
    password: 'secret',
    text: spec,
  })
  await expect(complete(spec, Promise.resolve(undefined))).rejects.toMatchObject({ code: 'EINTR' })
})

test('does not prompt if unnecessary, and changes nothing if it cannot prompt', async () => {
  for (const text of ['h', 'h?username=', 'h?username=me&password='])
    expect((await complete(text)).asked).toEqual([])
  expect((await complete('h?username=me')).password).toBeUndefined()
})
