/** Who a command says it is: a password that the specification leaves out is asked for. */
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

test('a user without a password is asked for it', async () => {
  const spec = 'h?username=me'
  expect(await complete(spec, Promise.resolve('secret'))).toEqual({
    asked: ['me'],
    password: 'secret',
    text: spec,
  })
  await expect(complete(spec, Promise.resolve(undefined))).rejects.toMatchObject({ code: 'EINTR' })
})

test('nobody is asked without need, and where nobody can be asked nothing changes', async () => {
  for (const text of ['h', 'h?username=', 'h?username=me&password='])
    expect((await complete(text)).asked).toEqual([])
  expect((await complete('h?username=me')).password).toBeUndefined()
})
