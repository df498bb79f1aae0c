/** Entry points for browsers: bundled for one, they run without any Node API. */
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** Bundles a program that imports this package like a bundler for browsers. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: process.cwd() },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'made',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}

/** Runs a program with the globals common to browsers and Node; returns its export. */
async function run(program: string): Promise<unknown> {
  const globals = { TextDecoder, TextEncoder, URL, performance, queueMicrotask, setTimeout, clearTimeout }
  return runInNewContext(`${await bundle(program)}; made.result`, globals)
}

test('pcp-ts/archive makes an archive in memory and scans it', async () => {
  const columns = await run(`
    import { Archive, ArchiveImport, memoryOutput, scan } from 'pcp-ts/archive'
    const output = memoryOutput('made')
    const made = new ArchiveImport(output, { hostname: 'browser', timezone: 'UTC', pid: 1 })
    const clicks = made.addMetric('page.clicks')
    for (let i = 0; i < 3; i++) {
      made.put(clicks, i * i)
      made.write({ sec: 1000 + i, nsec: 0 })
    }
    made.close()
    const contents = output.contents()
    const sourceOf = (bytes) => ({
      size: bytes.length,
      bytes,
      readInto(target, offset) {
        const part = bytes.subarray(offset, offset + target.length)
        target.set(part)
        return part.length
      },
      close() {},
    })
    const archive = Archive.open('made', {
      isDirectory: () => false,
      list: () => [...contents.keys()].map((part) => 'made.' + part),
      open: (path) => sourceOf(contents.get(path.slice(path.lastIndexOf('.') + 1))),
    })
    const { columns } = scan(archive, [...archive.metadata.descs.keys()])
    export const result = columns.map(({ times, values }) => [...times].join() + ' ' + [...values].join()).join()
  `)
  expect(columns).toBe('1000,1001,1002 0,1,4')
})

test('pcp-ts/derive parses an expression', async () => {
  const kind = await run(`
    import { isFault, parseExpr } from 'pcp-ts/derive'
    export const result = isFault(parseExpr('rate(a.b) * 8'))
  `)
  expect(kind).toBe(false)
})
