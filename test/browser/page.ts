/**
 * What the test of the browser runs there: decodes a PDU, parses units, makes an archive, reads it as files that were dropped
 * on the page, and evaluates a derived metric over it. The page's text is then what came out, as JSON.
 */

import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { scan } from '../../src/archive/scan.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { DerivedDefinitions } from '../../src/derive/definitions.ts'
import { withDerived } from '../../src/derive/derived-source.ts'
import { isError } from '../../src/model/errors.ts'
import { pmidStr } from '../../src/model/ids.ts'
import { parseUnits } from '../../src/model/parse-units.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { PM_SEM_COUNTER, PM_TYPE_U32 } from '../../src/model/types.ts'
import { unitsStr } from '../../src/model/units.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { Pmns } from '../../src/pmns/tree.ts'
import { parseInterval } from '../../src/time/interval.ts'
import { ctime } from '../../src/time/stamp.ts'
import { UTC } from '../../src/time/zone.ts'
import { decodeFetch } from '../../src/wire/fetch.ts'

/** What the page is given: a recorded PDU, and files as base64 by name. */
interface Given {
  readonly pdu: string
  readonly files: Readonly<Record<string, string>>
}

/** Dropped files as archives need them. */
async function dropped(files: readonly File[]): Promise<ArchiveFiles> {
  const contents = new Map<string, Uint8Array>()
  for (const file of files) contents.set(file.name, new Uint8Array(await file.arrayBuffer()))
  return {
    isDirectory: (path) => path === '.' || path === '',
    list: () => [...contents.keys()],
    open: (path) => {
      const bytes = contents.get(path.replace(/^\.\//, ''))
      if (bytes === undefined) throw Object.assign(new Error(`No file ${path}`), { code: 'ENOENT' })
      return bytesSource(bytes)
    },
  }
}

function makeArchive(): File[] {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'browser', timezone: 'UTC', pid: 1 })
  made.addMetric('page.clicks', {
    type: PM_TYPE_U32,
    sem: PM_SEM_COUNTER,
    units: 'count',
    indom: 'page.buttons',
  })
  for (let i = 0; i < 5; i++) {
    made.put('page.clicks', 10 * i, 'left')
    made.put('page.clicks', i, 'right')
    made.write({ sec: 1000 + i, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => new File([bytes.slice()], `made.${part}`))
}

async function readArchive(name: string, files: readonly File[], metric: string): Promise<unknown> {
  const archive = Archive.open(name, await dropped(files))
  const definitions = new DerivedDefinitions('global')
  definitions.add('derived.doubled', `2 * ${metric}`)
  const source = withDerived(new ArchiveSource(archive), definitions)
  const ask = { requester: ANONYMOUS }
  const [id, doubled] = await source.lookupNames([metric, 'derived.doubled'], ask)
  if (id === undefined || isError(id) || doubled === undefined || isError(doubled))
    throw new Error(`No ${metric}`)
  const [desc] = await source.descs([doubled], ask)
  if (desc === undefined || isError(desc)) throw new Error('No derived metric')
  // Up to the first record that has it.
  let values: unknown[] = []
  while (values.length === 0) values = valuesOf((await source.fetch([doubled], ask)).sets[0]!, desc.type)
  const { columns, records } = scan(archive, [id])
  const points = columns.reduce((sum, column) => sum + column.values.length, 0)
  return { host: archive.label.hostname, records, points, last: columns[0]?.values.at(-1), doubled: values }
}

async function run({ pdu, files }: Given): Promise<unknown> {
  const bytes = Uint8Array.from(pdu.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const names = new Pmns()
  names.add('a.b', 7)
  const given = Object.entries(files).map(
    ([name, text]) => new File([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))], name),
  )
  return {
    fetch: decodeFetch(bytes).ids.map(pmidStr),
    units: unitsStr(parseUnits('Mbyte / sec^2').units),
    interval: parseInterval('1min 30sec'),
    time: ctime(0, UTC),
    names: names.traverse(),
    made: await readArchive('made', makeArchive(), 'page.clicks'),
    ...(given.length === 0 ? {} : { given: await readArchive('given', given, 'kernel.all.load') }),
  }
}

declare const given: Given
declare const document: { body: { textContent: string | null } }

const show = (outcome: unknown): void => {
  document.body.textContent = JSON.stringify(outcome)
}
run(given).then(
  (result) => show({ result }),
  (error: unknown) => show({ error: String((error as Error).stack ?? error) }),
)
