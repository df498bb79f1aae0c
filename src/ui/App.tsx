/** Root component of the chart page. */
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Alerts } from './alerts/lazy-alerts.tsx'
import { Changes } from './changes/lazy-changes.tsx'
import { ChartCard } from './chart/ChartCard.tsx'
import { Fleet } from './fleet/lazy-fleet.tsx'
import { borrowFocus } from './keyboard.ts'
import { toggle } from './keys.ts'
import { type LazyPart, lazyPart, loadLazyPart } from './lazy.tsx'
import {
  activeAlerts,
  config,
  currentSource,
  editing,
  hostCount,
  layout,
  notice,
  type Panel,
  panel,
  screen,
  showError,
  shownKeys,
  view,
} from './page.ts'
import { fitPanel } from './panel/fit-panel.ts'
import { Icon } from './panel/Icon.tsx'
import { StatusLight } from './panel/Light.tsx'
import { hasPagesFirst } from './panel/narrow.ts'
import { PageTabs } from './panel/PageTabs.tsx'
import { SourceChoice } from './panel/SourceChoice.tsx'
import { TimeBar } from './panel/TimeBar.tsx'
import { Rules } from './rules/lazy-rules.tsx'
import { nextTheme, theme } from './theme.ts'
import { pageOf, toPageFragment } from './view/built-in.ts'
import { chartsFor } from './view/spread.ts'

const PANELS: Readonly<
  Record<Panel, readonly [title: string, content: (parts: LazyPart) => ComponentChild]>
> = {
  metrics: ['Metrics', ({ MetricBrowser }) => <MetricBrowser />],
  changes: ['Changes', (parts) => <Changes parts={parts} />],
  rules: ['Rules', () => <Rules />],
  alerts: ['Alerts', () => <Alerts />],
  archives: ['Sources', ({ Archives }) => <Archives />],
  views: ['Views', ({ Views }) => <Views />],
  help: ['Help', ({ Help }) => <Help />],
}

/** Renders the header, the time control, the charts and the open panel. */
export function App(): ComponentChild {
  const parts = useParts()
  const open = parts === undefined ? undefined : panel.value
  const keys = shownKeys.value
  const isBeside = keys.length > 1 && layout.value === 'beside'
  const isFleet = screen.value === 'fleet'
  return (
    <>
      <a class="skip" href="#charts">
        Skip to charts
      </a>
      <header class="head">
        <h1>
          <span class="mark" aria-hidden="true" />
          <span class="product">pcp</span>
        </h1>
        {isFleet ? (
          <span class="source">Fleet</span>
        ) : (
          <>
            <SourceChoice />
            {pageOf(view.value) === undefined && <span class="view-name">{view.value.name}</span>}
            <StatusLight />
          </>
        )}
        {/* Focus moves in visual order. */}
        {!isFleet && hasPagesFirst.value && <PageTabs />}
        <nav class="panels" aria-label="Panels">
          {(isFleet || hostCount.value > 1 || (config.value?.hosts.length ?? 0) > 1) && (
            <a class="button" href={isFleet ? chartsAddress() : '#fleet'}>
              {isFleet ? 'Charts' : 'Fleet'}
            </a>
          )}
          {(Object.keys(PANELS) as Panel[]).map((which) => (
            <button
              type="button"
              key={which}
              aria-pressed={panel.value === which}
              onClick={() => toggle(which)}
            >
              {PANELS[which][0]}
              {which === 'alerts' && <Badge />}
            </button>
          ))}
          <button
            type="button"
            onClick={nextTheme}
            aria-label={`Theme: ${theme.value}`}
            title={`Theme: ${theme.value} (t)`}
          >
            <Icon name={theme.value} />
          </button>
        </nav>
        {!isFleet && !hasPagesFirst.value && <PageTabs />}
      </header>
      <TimeBar />
      {!isFleet && currentSource.value?.range !== undefined && (
        <div class="minimap-room">{lazyPart.value !== undefined && <lazyPart.value.Minimap />}</div>
      )}
      {lazyPart.value !== undefined && <lazyPart.value.Troubles />}
      {lazyPart.value !== undefined && <lazyPart.value.IncidentNote />}
      {lazyPart.value !== undefined && <lazyPart.value.Annotations />}
      <div class={`body${open === undefined ? '' : ' with-panel'}`}>
        <div class="shown">{isFleet ? <Fleet /> : <Charts keys={keys} isBeside={isBeside} />}</div>
        {parts !== undefined && open !== undefined && <OpenPanel key={open} which={open} parts={parts} />}
      </div>
      {parts !== undefined && <parts.ChartEditor />}
      {lazyPart.value !== undefined && <lazyPart.value.SelectionBar />}
      <Notice />
    </>
  )
}

/** Counts the active alerts. */
function Badge(): ComponentChild {
  const count = activeAlerts.value
  if (count === 0) return null
  return (
    <>
      {' '}
      <span class="badge">
        {count}
        <span class="unseen"> active</span>
      </span>
    </>
  )
}

/** Returns the address of the charts that were shown before the fleet. */
function chartsAddress(): string {
  const page = pageOf(view.value)
  return page === undefined ? '#' : toPageFragment(page.page)
}

interface ChartsProps {
  readonly keys: readonly string[]
  readonly isBeside: boolean
}

/** The charts of the view. */
function Charts({ keys, isBeside }: ChartsProps): ComponentChild {
  return (
    <>
      {pageOf(view.value) !== undefined &&
        (lazyPart.value === undefined ? <div class="health" /> : <lazyPart.value.HealthStrip />)}
      <main id="charts" class={`charts${isBeside ? ` by-${Math.min(4, keys.length)}` : ''}`}>
        {view.value.charts
          .flatMap((chart) => chartsFor(chart, keys, layout.value))
          .flatMap((one, i, all) => {
            const { tab } = one.origin
            const card = <ChartCard key={one.chart.id} {...one} />
            if (tab === undefined || tab === all[i - 1]?.origin.tab) return card
            return [
              <h2 key={`tab ${one.chart.id}`} class="tab">
                {tab}
              </h2>,
              card,
            ]
          })}
        {view.value.charts.length === 0 && (
          <p class="empty">
            No charts yet.{' '}
            <button type="button" class="link" onClick={() => (panel.value = 'metrics')}>
              Browse metrics
            </button>
          </p>
        )}
      </main>
    </>
  )
}

/** Returns the lazily loaded part once a panel or the editor needs it. If it cannot be loaded, closes them and reports the error. */
function useParts(): LazyPart | undefined {
  const isWanted = panel.value !== undefined || editing.value !== undefined
  useEffect(() => {
    if (!isWanted) return
    loadLazyPart().catch((error) => {
      panel.value = undefined
      editing.value = undefined
      showError(error)
    })
  }, [isWanted])
  return lazyPart.value
}

interface OpenPanelProps {
  readonly which: Panel
  readonly parts: LazyPart
}

/** The panel beside the charts. Takes the focus when it opens and restores it when it closes. */
function OpenPanel({ which, parts }: OpenPanelProps): ComponentChild {
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => fitPanel(ref.current!), [])
  useEffect(() => {
    const first = ref.current!.querySelector<HTMLElement>('[data-first]')
    // On a touch screen, focusing an input opens the keyboard.
    const isTouch = matchMedia('(pointer: coarse)').matches
    return borrowFocus(ref.current!, isTouch || first === null ? ref.current! : first)
  }, [])
  const [title, content] = PANELS[which]
  return (
    <aside class="panel" aria-label={title} tabIndex={-1} ref={ref}>
      <header class="card-head">
        <h2>{title}</h2>
        <button type="button" class="key" aria-label="Close" onClick={() => (panel.value = undefined)}>
          <Icon name="close" />
        </button>
      </header>
      {content(parts)}
    </aside>
  )
}

function Notice(): ComponentChild {
  const said = notice.value
  return (
    <div class="notices" role="status" aria-live="polite">
      {said !== undefined && (
        <p class={`notice${said.isError ? ' bad' : ''}`}>
          {said.text}
          <button type="button" class="key" aria-label="Close" onClick={() => (notice.value = undefined)}>
            <Icon name="close" />
          </button>
        </p>
      )}
    </div>
  )
}
