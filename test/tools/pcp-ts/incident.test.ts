/** Incident files: what is put in comes out, whatever it is, and nothing else does. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64, packedBase64, toBase64 } from '../../../src/ui/data/base64.ts'
import { type Incident, incidentHtml, incidentIn } from '../../../src/ui/incident/incident.ts'
import { seed } from '../../lib/seed.ts'

const TEMPLATE = readFileSync('src/ui/incident.html', 'utf8')
const incident: Incident = { base: 'db1-1', note: 'slow', files: [['db1-1.meta.gz', 'AAAA']] }

/** Returns a file whose incident is any value. */
const withJson = (value: unknown): string =>
  TEMPLATE.replace('id="incident">', () => `id="incident">${JSON.stringify(value)}`)

test('any note comes back from the file, and cannot end the element that holds it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('</script><script>alert(1)</script>', '<!--', '$&$1'),
      ),
      (note) => {
        const html = incidentHtml(TEMPLATE, { ...incident, note })
        expect(incidentIn(html)).toEqual({ ...incident, note })
        expect(html.match(/<script/g)).toHaveLength(TEMPLATE.match(/<script/g)!.length)
      },
    ),
    { seed, numRuns: 200 },
  )
})

test('the title is the name of the archive', () => {
  expect(incidentHtml(TEMPLATE, incident)).toContain('<title>db1-1</title>')
})

test('another file is none, a damaged one is an error', () => {
  expect(incidentIn('<html></html>')).toBeUndefined()
  const html = incidentHtml(TEMPLATE, incident)
  expect(() => incidentIn(html.slice(0, html.indexOf('slow')))).toThrow(/damaged/)
  const changed = { ...incident, files: [['db1-1.meta.gz', 'AA@A']] }
  expect(() => incidentIn(withJson(changed))).toThrow(/damaged/)
  for (const wrong of [
    { ...incident, files: [] },
    { ...incident, base: '../../etc/passwd' },
    { ...incident, files: [['../x.meta', 'AAAA']] },
    { ...incident, files: [['x.meta', 7]] },
    [],
    null,
  ])
    expect(() => incidentIn(withJson(wrong))).toThrow(/no archive|damaged/)
  expect(() => incidentHtml('<html></html>', incident)).toThrow(/build the package/)
})

test('bytes come back from base64, packed or not', async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) >> 3)
  expect(fromBase64(toBase64(bytes))).toEqual(bytes)
  const packed = fromBase64(await packedBase64(bytes))
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  expect(new Uint8Array(await new Response(unpacked).arrayBuffer())).toEqual(bytes)
})
