/** The page. */
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ChartCard } from './chart/ChartCard.tsx'
import { connection } from './data/live.ts'
import { toggle } from './keys.ts'
import { layout, notice, type Panel, panel, shown, shownKeys, view } from './page.ts'
import { Archives } from './panel/Archives.tsx'
import { ChartEditor } from './panel/ChartEditor.tsx'
import { Help } from './panel/Help.tsx'
import { Icon } from './panel/Icon.tsx'
import { MetricBrowser } from './panel/MetricBrowser.tsx'
import { SourceChoice } from './panel/SourceChoice.tsx'
import { TimeBar } from './panel/TimeBar.tsx'
import { Views } from './panel/Views.tsx'
import { nextTheme, theme } from './theme.ts'
import { spread } from './view/spread.ts'

const PANELS: Readonly<Record<Panel, readonly [title: string, content: () => ComponentChild]>> = {
  metrics: ['Metrics', () => <MetricBrowser />],
  archives: ['Sources', () => <Archives />],
  views: ['Views', () => <Views />],
  help: ['Help', () => <Help />],
}

/** Head, time control, charts, and the panel that is open. */
export function App(): ComponentChild {
  const open = panel.value
  const keys = shownKeys.value
  const isBeside = keys.length > 1 && layout.value === 'beside'
  return (
    <>
      <a class="skip" href="#charts">
        To the charts
      </a>
      <header class="head">
        <h1>
          <span class="mark" aria-hidden="true" />
          <span class="product">pcp</span>
        </h1>
        <SourceChoice />
        <span class="view-name">{view.value.name}</span>
        <Light />
        <nav aria-label="Panels">
          {(Object.keys(PANELS) as Panel[]).map((which) => (
            <button type="button" key={which} aria-pressed={open === which} onClick={() => toggle(which)}>
              {PANELS[which][0]}
            </button>
          ))}
          <button
            type="button"
            onClick={nextTheme}
            aria-label={`Colours: ${theme.value}`}
            title={`Colours: ${theme.value} (t)`}
          >
            <Icon name={theme.value} />
          </button>
        </nav>
      </header>
      <TimeBar />
      <div class={`body${open === undefined ? '' : ' with-panel'}`}>
        <main id="charts" class={`charts${isBeside ? ` by-${Math.min(4, keys.length)}` : ''}`}>
          {view.value.charts
            .flatMap((chart) => spread(chart, keys, layout.value))
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
              An empty page.{' '}
              <button type="button" class="link" onClick={() => (panel.value = 'metrics')}>
                Choose metrics
              </button>
            </p>
          )}
        </main>
        {open !== undefined && <OpenPanel key={open} which={open} />}
      </div>
      <ChartEditor />
      <Notice />
    </>
  )
}

/** The panel beside the charts. It has the focus when it opens, and gives it back. */
function OpenPanel({ which }: { readonly which: Panel }): ComponentChild {
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const first = ref.current!.querySelector<HTMLElement>('[data-first]')
    // On a touch screen a field that has the focus brings its keyboard up.
    const isTouch = matchMedia('(pointer: coarse)').matches
    ;(isTouch ? ref.current! : (first ?? ref.current!)).focus({ preventScroll: true })
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
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
      {content()}
    </aside>
  )
}

/** Whether live values come; nothing for an archive. */
function Light(): ComponentChild {
  if (shown.value?.span !== undefined) return <span class="light">archive</span>
  const state = connection.value
  const text = { open: 'live', connecting: 'connecting …', lost: 'connection lost, trying again' }[state]
  return (
    <span class={`light ${state}`} role="status">
      {text}
    </span>
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
