/** docs/reference/rest.md has a section for each route, and docs/reference/pmproxy.md a row for each request of the chart page. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PAGE_ROUTES } from '../../src/pmproxy/routes/page-api.ts'
import { API_ROUTES } from '../../src/pmproxy/routes/pmapi.ts'

const rest = readFileSync('docs/reference/rest.md', 'utf8')
const source = (name: string): string => readFileSync(`src/pmproxy/routes/${name}.ts`, 'utf8')

test('every route of /pmapi has a section that names its parameters', () => {
  const sections = new Map(
    rest.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
  )
  for (const [name, { needs = [] }] of Object.entries(API_ROUTES)) {
    const section = sections.get(`/pmapi/${name}`)
    expect(section, name).toBeDefined()
    for (const parameter of needs) expect(section, name).toContain(`\`${parameter}\``)
  }
  const documented = [...sections.keys()].filter((title) => title.startsWith('/pmapi/'))
  expect(documented.length).toBe(Object.keys(API_ROUTES).length)
})

test('every route without a key server is in the table', () => {
  const routes = Array.from(source('keyless').matchAll(/^ {2}(\w+): \[/gm), ([, name]) => name!)
  expect(routes.length).toBeGreaterThan(10)
  for (const name of routes) expect(rest).toMatch(new RegExp(`\`(?:/\\w+/)?${name}\``))
})

test('every request of the chart page has a row', () => {
  const page = readFileSync('docs/reference/pmproxy.md', 'utf8')
  const names = [...PAGE_ROUTES, 'live']
  for (const name of names) expect(page).toMatch(new RegExp(`\`GET /ui/api/${name}\\b`))
})
