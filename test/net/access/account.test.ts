import { expect, test } from 'vitest'
import { type ServiceAccount, serviceAccount } from '../../../src/net/access/account.ts'

const ACCOUNTS = {
  userId: (name: string) => ({ root: 0, pcp: 999 })[name],
  firstGroupOf: (name: string) => ({ root: 0, pcp: 995 })[name],
}

function choose(
  asked: string | undefined,
  installed: string | undefined,
  ownUid = 0,
): ServiceAccount | undefined {
  return serviceAccount(asked, { PCP_USER: installed }, ACCOUNTS, ownUid)
}

test('root switches to the account given by -U, else to PCP_USER', () => {
  const pcp = { name: 'pcp', uid: 999, gid: 995 }
  expect(choose('pcp', 'other')).toEqual(pcp)
  expect(choose(undefined, 'pcp')).toEqual(pcp)
})

test('the account is unchanged for -U root, for non-root processes, and without a configured account', () => {
  expect(choose('root', 'pcp')).toBeUndefined()
  expect(choose('pcp', 'pcp', 1000)).toBeUndefined()
  expect(choose(undefined, undefined)).toBeUndefined()
})

test('an unknown account is an error, from the command line and from pcp.conf', () => {
  expect(() => choose('nobody here', 'pcp')).toThrow(
    'There is no user "nobody here" to run as: give -U a user that exists',
  )
  expect(() => choose(undefined, 'gone')).toThrow(
    'There is no user "gone" to run as: create PCP_USER of pcp.conf, or give -U a user',
  )
})
