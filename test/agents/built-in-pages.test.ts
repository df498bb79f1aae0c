/** The metrics of the built-in pages of charts, and of the views of pmchart, exist, here and in PCP. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { knownMetrics } from '../../src/agents/known-metrics.ts'
import { FUNCTIONS } from '../../src/derive/tokens.ts'
import { PAGES } from '../../src/ui/view/built-in.ts'
import { PMCHART_VIEWS } from '../../src/ui/view/pmchart-views.ts'

/** Names of the metrics of PCP 6.0.3's agents. */
const REFERENCE = new Set(
  ['linux', 'pmcd', 'proc'].flatMap((agent) =>
    (
      JSON.parse(
        readFileSync(join(import.meta.dirname, '..', 'vectors', 'metrics', `${agent}.json`), 'utf8'),
      ) as { readonly name: string }[]
    ).map(({ name }) => name),
  ),
)

/** Returns the metrics of plots, also those in expressions. */
function metricsOf(isOptional: boolean): string[] {
  return [...PAGES, ...PMCHART_VIEWS]
    .flatMap(({ view }) => view.charts)
    .flatMap(({ plots }) => plots)
    .filter(({ optional = false }) => optional === isOptional)
    .flatMap(({ metric, expr }) =>
      expr === undefined
        ? [metric]
        : (expr.match(/[a-z][\w.]+/gi) ?? []).filter((word) => !FUNCTIONS.has(word)),
    )
}

/** Metrics of applications, and of the collector and web server themselves, are not in tables of agents. */
const UNLISTED = /^(mmv|node|pmcd|pmproxy)\./

test("our agents and PCP's have all metrics of the pages that are not optional", async () => {
  const ours = new Set((await knownMetrics()).map(({ name }) => name))
  const needed = metricsOf(false)
  expect(needed.length).toBeGreaterThan(80)
  expect(needed.filter((name) => !REFERENCE.has(name))).toEqual([])
  expect(needed.filter((name) => !ours.has(name) && !UNLISTED.test(name))).toEqual([])
  const optional = metricsOf(true).filter((name) => !UNLISTED.test(name))
  expect(optional.filter((name) => !ours.has(name))).toEqual([])
})
