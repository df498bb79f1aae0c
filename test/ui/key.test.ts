/** The key of a tab, of which the server has a new one after a restart. */
import { afterEach, expect, test, vi } from 'vitest'
import { stubBrowser } from './lib/browser-globals.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a rejected key is reported, and the request is answered without it', async () => {
  stubBrowser()
  vi.stubGlobal('location', { protocol: 'http:', host: 'host', hash: `#key=${'k'.repeat(43)}`, search: '' })
  vi.stubGlobal('history', { replaceState: () => {} })
  const sent: (string | undefined)[] = []
  vi.stubGlobal('fetch', async (_url: string, { headers }: { headers?: { Authorization: string } }) => {
    sent.push(headers?.Authorization)
    return headers === undefined
      ? Response.json({ hosts: [] })
      : Response.json({}, { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="pmproxy"' } })
  })
  const { isSignedOut, takeKey } = await import('../../src/ui/data/key.ts')
  const { serverConfig } = await import('../../src/ui/data/server.ts')
  expect(takeKey()).toBe(true)
  expect(isSignedOut.value).toBe(false)
  expect(await serverConfig()).toEqual({ hosts: [] })
  expect(isSignedOut.value).toBe(true)
  await serverConfig()
  expect(sent).toEqual([`Bearer ${'k'.repeat(43)}`, undefined, undefined])
})
