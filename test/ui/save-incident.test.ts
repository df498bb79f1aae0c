/** A saved incident is of the source that was shown when it was saved. */
import { beforeAll, expect, test, vi } from 'vitest'
import type { ExcerptAnswer } from '../../src/ui/data/responses.ts'
import type { Source } from '../../src/ui/data/source.ts'
import { incidentIn } from '../../src/ui/incident/incident.ts'
import { stubBrowser } from './lib/browser-globals.ts'

const saved: Blob[] = []
vi.mock('../../src/ui/chart/export.ts', () => ({ download: (_name: string, file: Blob) => saved.push(file) }))

beforeAll(() => {
  stubBrowser()
  vi.stubGlobal('document', { getElementById: () => null })
  vi.stubGlobal('fetch', async () => new Response('<script type="application/json" id="incident"></script>'))
  return () => vi.unstubAllGlobals()
})

test('switching to another source while records are read changes neither notes nor view', async () => {
  const { addSource, show, view } = await import('../../src/ui/page.ts')
  const { notes } = await import('../../src/ui/annotations/state.ts')
  const { saveIncident } = await import('../../src/ui/incident/save-incident.ts')
  let arrive: (answer: ExcerptAnswer) => void = () => {}
  const read = new Promise<ExcerptAnswer>((resolve) => (arrive = resolve))
  const sourceOf = (host: string): Source =>
    ({ key: `file:${host}`, title: host, host, excerpt: () => read }) as unknown as Source
  for (const host of ['db1', 'db2']) {
    addSource(sourceOf(host))
    notes.save({ id: host, host, at: 50, text: `note on ${host}` })
  }
  show('file:db1')
  view.value = { name: 'First', charts: [] }
  const saving = saveIncident('mine', { from: 0, to: 100 })
  show('file:db2')
  view.value = { name: 'Second', charts: [] }
  arrive({ base: 'db1', files: [['db1.0.gz', '']] } as unknown as ExcerptAnswer)
  await saving
  const incident = incidentIn(await saved[0]!.text())!
  expect(incident.note).toMatch(/^mine\n.*note on db1$/)
  expect(incident.shown).toMatchObject({ view: { name: 'First' }, width: 100, end: 100 })
})
