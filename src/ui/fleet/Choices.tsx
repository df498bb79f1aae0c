/** Filter, groups and metric of the fleet. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { countStates, facetsOf, hasTerm, STATE_NAMES, toggled } from './rows.ts'
import { StateMark } from './StateMark.tsx'
import { filter, fleet, group, metric, range, shown } from './state.ts'

const AGGREGATES = ['sum', 'mean', 'max', 'min']

/** Renders the filter, the states with their numbers of hosts, and the labels. */
export function Filters(): ComponentChild {
  const answer = fleet.value
  if (answer === undefined) return null
  const facets = facetsOf(answer)
  const states = countStates(shown.value)
  return (
    <div class="fleet-filters">
      <input
        type="search"
        aria-label="Filter hosts"
        placeholder="Name, label=value, state=critical"
        title={'Every term must match: text of a name or label, label=value, label!=value, state=critical'}
        value={filter.value}
        onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
      />
      <label>
        <span class="label">Group</span>
        <select value={group.value} onChange={({ currentTarget }) => (group.value = currentTarget.value)}>
          <option value="">none</option>
          {facets.map(([name]) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <span class="fleet-states">
        {states.map(([state, count]) => (
          <TermButton key={state} label="state" value={STATE_NAMES[state].toLowerCase()}>
            <StateMark state={state} /> {count} {STATE_NAMES[state]}
          </TermButton>
        ))}
      </span>
      {facets.length > 0 && (
        <details class="fleet-labels">
          <summary>Labels</summary>
          {facets.map(([name, values]) => (
            <p key={name}>
              <span class="label">{name}</span>
              {values.map((value) => (
                <TermButton key={value} label={name} value={value}>
                  {value}
                </TermButton>
              ))}
            </p>
          ))}
        </details>
      )}
    </div>
  )
}

interface TermProps {
  readonly label: string
  readonly value: string
  readonly children: ComponentChild
}

function TermButton({ label, value, children }: TermProps): ComponentChild {
  return (
    <button
      type="button"
      aria-pressed={hasTerm(filter.value, label, value)}
      onClick={() => (filter.value = toggled(filter.value, label, value))}
    >
      {children}
    </button>
  )
}

/** Renders the choice of the metric over all hosts, and how its instances are combined. */
export function MetricChoice(): ComponentChild {
  const typed = useSignal('')
  const chosen = metric.value
  const figures = fleet.value?.figures ?? []
  const isFigure = 'figure' in chosen
  const choose = (event: Event): void => {
    event.preventDefault()
    const [, name, , instance] = /^\s*([^[\s]+)(\[(.+)\])?\s*$/.exec(typed.value) ?? []
    if (name !== undefined) metric.value = { metric: name, instance }
  }
  return (
    <form class="fleet-metric" onSubmit={choose}>
      <label>
        <span class="label">Metric</span>
        <select
          value={isFigure ? chosen.figure : ''}
          onChange={({ currentTarget }) => {
            if (currentTarget.value !== '') metric.value = { figure: currentTarget.value }
          }}
        >
          {!isFigure && <option value="">{chosen.metric}</option>}
          {figures.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <input
        aria-label="Name of a metric"
        placeholder="or: swap.used"
        title="Name of a recorded metric, with [instance] for one of its instances"
        value={typed.value}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      />
      <button type="submit">Show</button>
      {!isFigure && range.value?.aggregate != null && (
        <label>
          <span class="label">Instances</span>
          <select
            value={range.value.aggregate}
            onChange={({ currentTarget }) => (metric.value = { ...chosen, aggregate: currentTarget.value })}
          >
            {AGGREGATES.map((how) => (
              <option key={how} value={how}>
                {how}
              </option>
            ))}
          </select>
        </label>
      )}
    </form>
  )
}
