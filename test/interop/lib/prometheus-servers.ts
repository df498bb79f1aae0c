/** Prometheus and VictoriaMetrics on loopback, with imported series. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { listening } from '../../../bench/macro/lib/fleet/processes.ts'
import { freePort } from '../../../bench/macro/lib/free-port.ts'
import type { ImportedSeries } from './prometheus-import.ts'

/** A running server. */
export interface PrometheusProgram {
  readonly url: string
  close(): Promise<void>
}

/** Programs of Debian's packages prometheus and victoria-metrics, if they are installed. */
export const hasPrometheus: boolean = isInstalled('prometheus') && isInstalled('promtool')
export const hasVictoriaMetrics: boolean = isInstalled('victoria-metrics')
if (!hasPrometheus) console.log("skipped: Debian's package prometheus is not installed")
if (!hasVictoriaMetrics) console.log("skipped: Debian's package victoria-metrics is not installed")

/** Starts Prometheus with blocks of the series. */
export async function startPrometheus(series: readonly ImportedSeries[]): Promise<PrometheusProgram> {
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'))
  writeFileSync(join(dir, 'series'), openMetrics(series))
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', join(dir, 'series'), dir], {
    stdio: 'ignore',
  })
  writeFileSync(join(dir, 'empty.yml'), '')
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(dir, 'empty.yml')}`,
      `--storage.tsdb.path=${dir}`,
      '--storage.tsdb.retention.time=100y',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  return started(child, dir, port, /ready to receive web requests/)
}

/** Starts VictoriaMetrics and imports the series. */
export async function startVictoriaMetrics(series: readonly ImportedSeries[]): Promise<PrometheusProgram> {
  const dir = mkdtempSync(join(tmpdir(), 'victoria-metrics-'))
  const port = await freePort()
  const child = spawn(
    'victoria-metrics',
    [
      `-storageDataPath=${dir}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=100y',
      '-search.latencyOffset=0s',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const server = await started(child, dir, port, /pprof handlers are exposed/)
  const body = series.map((each) => JSON.stringify(each)).join('\n')
  const answer = await fetch(`${server.url}/api/v1/import`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  await fetch(`${server.url}/internal/force_flush`)
  return server
}

async function started(
  child: ChildProcess,
  dir: string,
  port: number,
  ready: RegExp,
): Promise<PrometheusProgram> {
  let log = ''
  for await (const line of createInterface({ input: child.stderr! })) {
    log += `${line}\n`
    if (ready.test(line)) {
      child.stderr!.resume()
      // VictoriaMetrics prints the line before it listens.
      await listening(child, port)
      return {
        url: `http://127.0.0.1:${port}`,
        close: async () => {
          const gone = once(child, 'exit')
          child.kill('SIGKILL')
          await gone
          rmSync(dir, { recursive: true, force: true })
        },
      }
    }
  }
  throw new Error(log)
}

/** Writes series as OpenMetrics, with all values of a metric together. */
function openMetrics(series: readonly ImportedSeries[]): string {
  const lines: string[] = []
  const byName = new Map<string, ImportedSeries[]>()
  for (const each of series) {
    const name = each.metric['__name__']!
    byName.set(name, [...(byName.get(name) ?? []), each])
  }
  for (const [name, all] of byName) {
    lines.push(`# TYPE ${name} gauge`)
    for (const { metric, values, timestamps } of all) {
      const labels = Object.entries(metric)
        .filter(([label]) => label !== '__name__')
        .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
      for (const [i, value] of values.entries())
        lines.push(`${name}{${labels.join(',')}} ${value} ${timestamps[i]! / 1000}`)
    }
  }
  return `${lines.join('\n')}\n# EOF\n`
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
