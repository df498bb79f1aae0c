/** Uses each entry point of the installed package: an agent, an archive, memory-mapped values, derived metrics, a collector. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createArchive, openArchive } from 'pcp-ts/archive'
import { isFault, parseExpr } from 'pcp-ts/derive'
import { openLocal } from 'pcp-ts/local'
import { MmvWriter } from 'pcp-ts/mmv'
import { register } from 'pcp-ts/node'
import { connect } from 'pcp-ts/pmapi'
import { defineAgent, openAgent } from 'pcp-ts/pmda'

const dir = mkdtempSync(join(tmpdir(), 'matrix-'))
const done = []
const step = async (name, work) => {
  await work()
  done.push(name)
}

await step('archive', async () => {
  const made = createArchive(join(dir, 'made'), { hostname: 'h', timezone: 'UTC', pid: 1 })
  made.addMetric('demo.load', { indom: 'ages' })
  for (let i = 0; i < 5; i++) {
    made.put('demo.load', i / 2, '1 minute')
    made.write(new Date(Date.UTC(2026, 0, 1, 0, 0, i)))
  }
  made.close()
  const archive = await openArchive(join(dir, 'made'))
  const values = []
  for await (const row of archive.sample(['demo.load'], { every: '1sec' }))
    values.push(row.value('demo.load', '1 minute'))
  await archive.close()
  deepStrictEqual(values.slice(0, 5), [0, 0.5, 1, 1.5, 2])
})

const row = { type: '32', sem: 'instant', units: 'none', help: 'A number' }
const demo = defineAgent({
  name: 'demo',
  domain: 400,
  metrics: { 'demo.n': { ...row, item: 0, value: () => 42 } },
})

await step('agent', async () => {
  const agent = openAgent(demo)
  deepStrictEqual([...agent.names()].length, 1)
  await agent.close()
})

await step('local and derived', async () => {
  const local = await openLocal({ agents: [demo] })
  strictEqual((await local.values(['demo.n'])).value('demo.n'), 42)
  ok(!isFault(parseExpr('rate(demo.n) * 2')))
  await local.close()
})

await step('mmv', async () => {
  const writer = new MmvWriter('demo', { directory: join(dir, 'mmv') })
  const count = writer.counter('count')
  writer.publish()
  count.add(3)
  writer.flush()
  deepStrictEqual(readdirSync(join(dir, 'mmv')), ['demo'])
  ok(readFileSync(join(dir, 'mmv', 'demo')).includes('count'))
  writer.close()
})

await step('node', async () => {
  const registered = register({ name: 'matrix', directory: join(dir, 'mmv') })
  ok(readdirSync(join(dir, 'mmv')).length > 0)
  registered.close()
})

// The collector itself is a program of Node, whatever runs this file.
await step('collector', async () => {
  const bin = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', 'pcp-ts', 'bin', 'pcp-ts')
  const args = [
    'start',
    '--dir',
    join(dir, 'state'),
    '--port',
    '0',
    '--web-port',
    '0',
    '--agents',
    'sample,simple,pmcd',
    '--no-record',
  ]
  const runtime = 'Bun' in globalThis || 'Deno' in globalThis ? 'node' : process.execPath
  const child = spawn(runtime, [bin, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8')
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('Ctrl-C')) break
  }
  try {
    const port = /listening +localhost:(\d+)/.exec(text)[1]
    const context = await connect(`localhost:${port}`)
    strictEqual((await context.values(['sample.long.ten'])).value('sample.long.ten'), 10)
    await context.close()
  } finally {
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  }
})
console.log(done.join(', '))
process.exit(0)
