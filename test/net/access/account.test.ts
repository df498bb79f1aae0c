import { expect, test } from 'vitest'
import { type Account, serviceAccount } from '../../../src/net/access/account.ts'

const ACCOUNTS = {
  userId: (name: string) => ({ root: 0, pcp: 999 })[name],
  firstGroupOf: (name: string) => ({ root: 0, pcp: 995 })[name],
}

function choose(asked: string | undefined, installed: string | undefined, ownUid = 0): Account | undefined {
  return serviceAccount(asked, { PCP_USER: installed }, ACCOUNTS, ownUid)
}

test('root becomes the account asked for, else that of the installation', () => {
  const pcp = { name: 'pcp', uid: 999, gid: 995 }
  expect(choose('pcp', 'other')).toEqual(pcp)
  expect(choose(undefined, 'pcp')).toEqual(pcp)
})

test('nothing is changed for root itself, for others, and where nobody is named', () => {
  expect(choose('root', 'pcp')).toBeUndefined()
  expect(choose('pcp', 'pcp', 1000)).toBeUndefined()
  expect(choose(undefined, undefined)).toBeUndefined()
})

test('an account that does not exist is a mistake, whoever names it', () => {
  expect(() => choose('nobody here', 'pcp')).toThrow(
    'There is no user "nobody here" to run as: give -U a user that exists',
  )
  expect(() => choose(undefined, 'gone')).toThrow(
    'There is no user "gone" to run as: create PCP_USER of pcp.conf, or give -U a user',
  )
})
