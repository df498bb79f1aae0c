import { expect, test } from 'vitest'
import { serviceAccount } from '../../../src/net/access/account.ts'
import { logOnFd } from '../../../src/sys/log.ts'

const ACCOUNTS = {
  userId: (name: string) => ({ root: 0, pcp: 999 })[name],
  firstGroupOf: (name: string) => ({ root: 0, pcp: 995 })[name],
}

/** The account, and what the log says. */
function choose(asked: string | undefined, installed: string | undefined, ownUid = 0): unknown[] {
  const lines: string[] = []
  const log = {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    notice: (_: string, text: string) => lines.push(text),
  }
  return [serviceAccount(asked, { PCP_USER: installed }, log, ACCOUNTS, ownUid), ...lines]
}

test('root becomes the account asked for, else that of the installation', () => {
  const pcp = { name: 'pcp', uid: 999, gid: 995 }
  expect(choose('pcp', 'other')).toEqual([pcp])
  expect(choose(undefined, 'pcp')).toEqual([pcp])
})

test('nothing is changed for root itself, for others, and where nobody is named', () => {
  expect(choose('root', 'pcp')).toEqual([undefined])
  expect(choose('pcp', 'pcp', 1000)).toEqual([undefined])
  expect(choose(undefined, undefined)).toEqual([undefined])
})

test('an account that does not exist is a mistake when asked for, else a warning', () => {
  expect(() => choose('nobody here', 'pcp')).toThrow(
    'There is no user "nobody here" to run as: give -U a user that exists',
  )
  expect(choose(undefined, 'gone')).toEqual([
    undefined,
    'There is no user "gone" to run as: pmcd goes on as root',
  ])
})
