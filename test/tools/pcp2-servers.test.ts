/** Requests of exporters that send to a server, over a small archive. */
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pcp2elasticsearch } from '../../src/tools/pcp2elasticsearch/index.ts'
import { tool as pcp2graphite } from '../../src/tools/pcp2graphite/index.ts'
import { tool as pcp2influxdb } from '../../src/tools/pcp2influxdb/index.ts'
import { tool as pcp2zabbix } from '../../src/tools/pcp2zabbix/index.ts'
import { httpStore, tcpStore, zabbixAnswer } from '../lib/store-server.ts'
import { onDisk, sampleArchive } from './archive-runner.ts'
import { type Printed, testIo } from './run-tool.ts'

const stored = onDisk(sampleArchive())
afterAll(() => stored.remove())

const METRICS = ['t.counter', 't.instances', 't.discrete', 't.text']

async function run(tool: Tool, ...args: string[]): Promise<Printed & { readonly status: number }> {
  const io = testIo(tool.name, ['-a', stored.path, '-s', '2', ...args], {
    PCP_SYSCONF_DIR: '/none',
    HOME: '/none',
  })
  const status = await tool.run(io)
  return { status, ...io.printed }
}

test('pcp2graphite sends lines, and leaves text out', async () => {
  await using store = await tcpStore()
  const { status, stdout, stderr } = await run(
    pcp2graphite,
    '-g',
    '127.0.0.1',
    '-E',
    String(store.port),
    ...METRICS,
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe('Sending 4 archived metrics to Graphite host 127.0.0.1...\n(Ctrl-C to stop)\n')
  await store.until(1)
  expect(store.received).toEqual([
    `pcp.t.instances._one 0 0
pcp.t.instances._two_words 0 0
pcp.t.discrete 0.0 0
pcp.t.counter 10.0 10
pcp.t.instances._one 100 10
pcp.t.instances._two_words 200 10
pcp.t.discrete 100.0 10
`,
  ])
})

test('pcp2graphite sends a framed pickle by default', async () => {
  await using store = await tcpStore()
  const args = ['-H', '-g', '127.0.0.1', '-p', String(store.port), '-x', 'my.', '-s', '1', 't.discrete']
  expect(await run(pcp2graphite, ...args)).toEqual({ status: 0, stdout: '', stderr: '' })
  await store.until(1)
  expect(store.received).toEqual(['\0\0\0\x1f(l(Vmy.t.discrete\n(I0\nF0.0\ntta.'])
})

test('pcp2influxdb sends line protocol', async () => {
  await using store = await httpStore()
  const url = `http://127.0.0.1:${store.port}`
  const { status, stdout, stderr } = await run(
    pcp2influxdb,
    ...['-g', url, '-x', 'my db', '-U', 'u', '-E', 'p', '-X', 'host=h', ...METRICS],
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(
    `Using database 'my db' and tags 'host=h'.\nSending 4 archived metrics to InfluxDB at ${url}...\n(Ctrl-C to stop)\n`,
  )
  expect(store.received).toEqual([
    `POST /write?db=my%20db
Basic dTpw
t_instances,host=h _one=0,_two_words=0 0
t_discrete,host=h value=0.0 0
t_text,host=h value="at 0" 0`,
    `POST /write?db=my%20db
Basic dTpw
t_counter,host=h value=10.0 10000000000
t_instances,host=h _one=100,_two_words=200 10000000000
t_discrete,host=h value=100.0 10000000000
t_text,host=h value="at 10" 10000000000`,
  ])
})

const LABELS = `{'hostname':'testhost'}`

test('pcp2elasticsearch declares its index once, and sends a document for each sample', async () => {
  await using store = await httpStore(({ method }) => ({ status: method === 'PUT' ? 400 : 201 }))
  const url = `http://127.0.0.1:${store.port}`
  const args = ['-H', '-g', url, '-p', '_doc', '-X', 'me', '-m', ...METRICS]
  expect(await run(pcp2elasticsearch, ...args)).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(store.received).toEqual([
    'PUT /pcp\n{"mappings":{"properties":{"@timestamp":{"type":"date","format":"epoch_millis"},"@host-id":{"type":"keyword"}}}}',
    `POST /pcp/_doc\n{"@host-id":"me","@timestamp":0,"t":{"@instances":[{"@id":"one","instances":0,"@labels":"${LABELS}"},{"@id":"two words","instances":0,"@labels":"${LABELS}"}],"discrete":[0.0,"${LABELS}"],"text":["at 0","${LABELS}"]}}`,
    `POST /pcp/_doc\n{"@host-id":"me","@timestamp":10000,"t":{"counter":[10.0,"${LABELS}"],"@instances":[{"@id":"one","instances":100,"@labels":"${LABELS}"},{"@id":"two words","instances":200,"@labels":"${LABELS}"}],"discrete":[100.0,"${LABELS}"],"text":["at 10","${LABELS}"]}}`,
  ])
})

/** The items of a request to Zabbix. */
function itemsOf(received: string): string[] {
  const { data } = JSON.parse(received.slice(13)) as {
    readonly data: readonly { readonly key: string; readonly value: string; readonly clock: number }[]
  }
  return data.map(({ key, value, clock }) => `${key} ${value} ${clock}`)
}

test('pcp2zabbix sends an archive in batches, and its instances once', async () => {
  await using store = await tcpStore(zabbixAnswer('processed: 11; failed: 0; total: 11'))
  const args = ['-H', '-g', '127.0.0.1', '-p', String(store.port), '-X', 'me', '-l', ...METRICS]
  expect(await run(pcp2zabbix, ...args)).toEqual({ status: 0, stdout: '', stderr: '' })
  await store.until(1)
  expect(store.received.flatMap(itemsOf)).toEqual([
    'pcp.t.instances[one] 0 0',
    'pcp.t.instances[two words] 0 0',
    'pcp.discovery[pcp.t.instances] {"data":[{"{#PCP.T.INSTANCES}":"one"},{"{#PCP.T.INSTANCES}":"two words"}]} 0',
    'pcp.t.discrete 0.000 0',
    'pcp.t.text at 0 0',
    'pcp.t.counter 10.000 10',
    'pcp.t.instances[one] 100 10',
    'pcp.t.instances[two words] 200 10',
    'pcp.t.discrete 100.000 10',
    'pcp.t.text at 10 10',
  ])
})

test('values that Zabbix does not know are counted', async () => {
  await using store = await tcpStore(zabbixAnswer('processed: 0; failed: 2; total: 2'))
  const args = ['-H', '-g', '127.0.0.1', '-p', String(store.port), '-X', 'me', 't.discrete']
  expect(await run(pcp2zabbix, ...args)).toEqual({
    status: 0,
    stdout: '',
    stderr:
      "pcp2zabbix: Zabbix did not accept 2 of 2 values: check that host 'me' has trapper items with these keys (-X, -x)\n" +
      'pcp2zabbix: Zabbix did not accept 2 values in all\n',
  })
})

const CLOSED = String(await freePort())
test.each<[Tool, readonly string[], number]>([
  [pcp2graphite, ['-g', '127.0.0.1', '-E', CLOSED], 2],
  [pcp2influxdb, ['-g', `http://127.0.0.1:${CLOSED}`], 2],
  [pcp2elasticsearch, ['-g', `http://127.0.0.1:${CLOSED}`], 2],
  [pcp2zabbix, ['-g', '127.0.0.1', '-p', CLOSED], 1],
])('samples that cannot be sent are reported, and the status is 1: %#', async (tool, args, count) => {
  const { status, stderr } = await run(tool, '-H', ...args, 't.discrete')
  expect(status).toBe(1)
  const lines = stderr.split('\n').slice(0, -1)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/^pcp2\w+: cannot send to .*127\.0\.0\.1:\d+\/?: Connection refused, continuing$/)
  expect(lines.at(-1)).toBe(`${tool.name}: ${count} of ${count} messages were not sent`)
})

test.each<[Tool, readonly string[], string]>([
  [pcp2graphite, ['-p', 'x'], 'graphite_port: x: expected a port number, 1 to 65535\n'],
  [pcp2graphite, ['-X', '6'], 'pickle_protocol: 6: expected a number from 0 to 5\n'],
  [pcp2influxdb, ['-g', 'there'], 'there: not a URL: expected http://HOST:PORT or https://...\n'],
  [pcp2zabbix, ['-E', 'soon'], 'zabbix_interval: soon: expected an interval such as 30sec or 5min\n'],
])('wrong settings are named: %#', async (tool, args, message) => {
  const { status, stderr } = await run(tool, ...args, 't.discrete')
  expect({ status, stderr }).toEqual({ status: 1, stderr: message })
})
