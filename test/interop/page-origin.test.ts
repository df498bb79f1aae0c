/** Foreign pages in a real browser: another origin, another port, and a name that resolves to this machine get no data. docs/reference/pmproxy.md */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { CHROMIUM, PATIENCE } from './lib/page.ts'
import { startOurs, type TestCollector } from './lib/programs.ts'

const ROUTES = [
  ...[
    '/metrics',
    '/metrics?names=proc',
    '/pmapi/context?hostspec=local:',
    '/pmapi/fetch?names=kernel.all.load',
  ],
  ...['/pmapi/fetch?hostspec=local:&names=proc.psinfo.environ', '/pmapi/indom?name=proc.psinfo.psargs'],
  ...[
    '/pmapi/metric?prefix=kernel.all',
    '/pmapi/children',
    '/pmapi/metrics',
    '/series/query?expr=x',
    '/search/text?query=x',
  ],
  ...['/ui/', '/ui/api/config', '/ui/api/archives', '/ui/api/names?match=load', '/ui/api/children'],
  ...['/ui/api/instances?name=proc.psinfo.psargs'],
]

/** Browser APIs used by the attack, whose types these tests lack. */
interface TestElement {
  src: string
  onload: ((value?: unknown) => void) | null
  onerror: (() => void) | null
  setAttribute(name: string, value: string): void
}
interface Parent {
  append(element: TestElement): void
}
declare const document: {
  readonly head: Parent
  readonly body: Parent
  createElement(name: string): TestElement
}
declare const sessionStorage: {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
}

/** Tries everything a page can; runs in the browser. Resolves to all it could learn. */
async function attack({ target, routes }: { target: string; routes: readonly string[] }): Promise<string[]> {
  const learnt: string[] = []
  const note = (what: string) => () => void learnt.push(what)
  for (const route of routes) {
    const url = target + route
    for (const method of ['GET', 'POST'])
      await fetch(url, { method, credentials: 'include' }).then(
        async (response) => {
          const text = await response.text()
          if (response.ok) learnt.push(`${method} ${route}: ${text.slice(0, 80)}`)
        },
        () => undefined,
      )
    for (const [name, attribute] of [
      ['img', 'src'],
      ['script', 'src'],
      ['link', 'href'],
    ] as const)
      await new Promise<void>((resolve) => {
        const element = document.createElement(name)
        if (name === 'link') element.setAttribute('rel', 'stylesheet')
        element.onload = () => resolve(note(`${name} ${route}`)())
        element.onerror = () => resolve()
        element.setAttribute(attribute, url)
        document.head.append(element)
      })
  }
  await new Promise<void>((resolve) => {
    const socket = new WebSocket(`${target.replace(/^http/, 'ws')}/ui/api/live`)
    socket.onopen = () => resolve(note('WebSocket')())
    socket.onerror = () => resolve()
  })
  return learnt
}

describe.skipIf(CHROMIUM === undefined)('in a browser', () => {
  let ours: TestCollector
  let browser: Browser
  let elsewhere: Server
  let port: number
  let otherPort: number
  beforeAll(async () => {
    port = await freePort()
    elsewhere = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end('<title>elsewhere</title>')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    otherPort = (elsewhere.address() as AddressInfo).port
    ours = await startOurs('--web-port', String(port), '--agents', 'linux,pmcd,proc,simple')
    browser = await chromium.launch({
      executablePath: CHROMIUM!,
      args: [
        '--no-sandbox',
        '--host-resolver-rules=MAP *.example 127.0.0.1',
        '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
      ],
    })
  })
  afterAll(async () => {
    await browser?.close()
    elsewhere?.close()
    expect(await ours?.stop()).toBe(0)
  })

  async function at(address: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(PATIENCE.timeout)
    await page.goto(address)
    return page
  }

  test('a page of another origin or port cannot read, embed or open anything', async () => {
    for (const address of [`http://evil.example:${otherPort}/`, `http://localhost:${otherPort}/`]) {
      const page = await at(address)
      expect(await page.title()).toBe('elsewhere')
      for (const host of ['localhost', '127.0.0.1']) {
        const target = `http://${host}:${port}`
        expect(await page.evaluate(attack, { target, routes: ROUTES }), `${address} ${target}`).toEqual([])
      }
      await page.context().close()
    }
  })

  test('a foreign name that resolves to this machine is rejected, although its pages are same-origin', async () => {
    const page = await at(`http://evil.example:${port}/ui/`)
    expect(await page.content()).toContain('names = evil.example in [ui] of pmproxy.conf')
    const target = `http://evil.example:${port}`
    expect(await page.evaluate(attack, { target, routes: ROUTES })).toEqual([])
    await page.context().close()
  })

  test('our page in a frame of a foreign page shows nothing', async () => {
    const page = await at(`http://evil.example:${otherPort}/`)
    await page.evaluate((src) => {
      const frame = document.createElement('iframe')
      frame.src = src
      document.body.append(frame)
      return new Promise((resolve) => {
        frame.onload = resolve
      })
    }, `http://localhost:${port}/ui/`)
    const [, frame] = page.frames()
    expect(await frame!.locator('#page').count()).toBe(0)
    await page.context().close()
  })

  test('the same attempts succeed in our own page, which proves that they can', async () => {
    const page = await at(`http://localhost:${port}/ui/`)
    const learnt = await page.evaluate(attack, {
      target: `http://localhost:${port}`,
      routes: ['/metrics?names=kernel.all.load', '/ui/api/config'],
    })
    expect(learnt).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^GET \/metrics/),
        expect.stringMatching(/^GET \/ui\/api\/config/),
        'WebSocket',
      ]),
    )
    await page.context().close()
  })

  test('the printed link signs the user in, and the key is removed from the address', async () => {
    const [, path] = /signed in {2}by the link in (.*)/.exec(ours.printed())!
    const link = readFileSync(path!.trim(), 'utf8').trim()
    const environ = (page: Page): Promise<string> =>
      page.evaluate(async () => {
        const key = sessionStorage.getItem('pcp-ts-key')
        const headers: Record<string, string> = key === null ? {} : { Authorization: `Bearer ${key}` }
        const answer = await fetch('/pmapi/fetch?hostspec=local:&names=proc.psinfo.environ', { headers })
        return answer.text()
      })
    const stranger = await at(`http://localhost:${port}/ui/`)
    expect(await environ(stranger)).not.toContain('PATH=')
    const page = await at(link)
    await page.locator('.source option').first().waitFor({ state: 'attached' })
    expect(page.url().split('#')[0]).toBe(`http://localhost:${port}/ui/`)
    expect(page.url()).not.toContain('key=')
    expect(await environ(page)).toContain('PATH=')
    // A key of an earlier server is discarded, and the page works without it.
    await page.evaluate(() => sessionStorage.setItem('pcp-ts-key', 'x'.repeat(43)))
    await page.reload()
    await page.locator('.source option').first().waitFor({ state: 'attached' })
    expect(await page.evaluate(() => sessionStorage.getItem('pcp-ts-key'))).toBeNull()
    await stranger.context().close()
    await page.context().close()
  })
})
