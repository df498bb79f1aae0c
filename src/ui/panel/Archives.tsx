/** The Sources panel: hosts, archives on the server, archives from local files. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { openRemote } from '../data/local-files.ts'
import type { ArchiveInfo } from '../data/responses.ts'
import { archiveSource, hostSource } from '../data/server.ts'
import { openFiles } from '../incident/open-files.ts'
import { isIncidentFile } from '../incident/open-incident.ts'
import {
  addSource,
  archives,
  compare,
  compared,
  config,
  currentKey,
  panel,
  refreshArchives,
  show,
  showError,
  sources,
} from '../page.ts'
import { time } from '../time/control.ts'
import { formatDuration, formatTime } from '../time/format.ts'
import { hostKey } from '../view/view.ts'

/** Role of a source that is opened: the current one, or compared with it. */
type Place = 'alone' | 'with'

/** Opens a host by the specification that was entered. */
function openHost(spec: string, place: Place): void {
  const key = hostKey(spec)
  if (!sources.value.has(key)) addSource(hostSource(spec, spec, null))
  put(key, place)
}

function openArchive(info: ArchiveInfo, place: Place): void {
  const source = archiveSource(info)
  addSource(source)
  put(source.key, place)
}

function put(key: string, place: Place): void {
  if (place === 'alone') show(key)
  else compare(key, true)
}

/** Maximum number of archives listed; the filter finds the others. */
const MOST_ARCHIVES = 300

/** Formats the time span of an archive, with the date only once if it spans one day. */
function betweenText({ start, end }: ArchiveInfo, zone: string): string {
  const [from, to] = [formatTime(start, zone), formatTime(end, zone)]
  const day = 'yyyy-mm-dd '.length
  return `${from} – ${to.slice(0, day) === from.slice(0, day) ? to.slice(day) : to}`
}

function withoutPort(ports: readonly number[]): string {
  return `Default port: ${ports.join(', then ')}`
}

/** Renders the panel. A click on a source opens it. */
export function Archives(): ComponentChild {
  const host = useSignal('')
  const address = useSignal('')
  const filter = useSignal('')
  const isKnown = useSignal(false)
  const hasArchives = config.value?.archives === true
  useEffect(() => {
    if (!hasArchives) return
    const known = (): void => {
      isKnown.value = true
    }
    refreshArchives().then(known, showError)
  }, [hasArchives])
  const open = (place: Place): void => {
    const spec = host.value.trim()
    if (spec === '') return
    openHost(spec, place)
    host.value = ''
  }
  const zone = time.zone.value
  const found = archives.value.filter(({ id, host: name }) =>
    `${id} ${name}`.toLowerCase().includes(filter.value.toLowerCase()),
  )
  return (
    <div class="archives">
      <h3>Open</h3>
      <ul>
        {[...sources.value.values()].map(({ key, title }) => (
          <li key={key} class="row">
            <button
              type="button"
              class={`leaf${key === currentKey.value ? ' on' : ''}`}
              onClick={() => show(key)}
            >
              {title}
            </button>
            {key !== currentKey.value && (
              <button
                type="button"
                aria-pressed={compared.value.includes(key)}
                aria-label={`Compare with ${title}`}
                onClick={() => compare(key, !compared.value.includes(key))}
              >
                Compare
              </button>
            )}
          </li>
        ))}
      </ul>
      {config.value?.anyHost === true && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            open('alone')
          }}
        >
          <input
            aria-label="Another host"
            placeholder="Host or host:port"
            title={withoutPort(config.value.ports)}
            value={host.value}
            onInput={({ currentTarget }) => (host.value = currentTarget.value)}
          />
          <button type="submit">Open</button>
          <button type="button" onClick={() => open('with')}>
            Compare
          </button>
          <small>{withoutPort(config.value.ports)}</small>
        </form>
      )}
      <h3>Local files</h3>
      <p class="drop">
        Drop the files of an archive anywhere on the page, or{' '}
        <label class="link file">
          choose files
          <input
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])]
              if (files.length > 0) openFiles(files).then(() => (panel.value = undefined), showError)
            }}
          />
        </label>
        . They are read in this browser; nothing is uploaded.
      </p>
      {!isIncidentFile() && <h3>On a web server</h3>}
      <form
        hidden={isIncidentFile()}
        onSubmit={(event) => {
          event.preventDefault()
          const url = address.value.trim()
          if (url === '') return
          openRemote(url).then(({ key }) => {
            show(key)
            address.value = ''
          }, showError)
        }}
      >
        <input
          aria-label="Address of an archive"
          placeholder="https://host/path/20261128"
          title="The server must support ranges, and CORS for this page"
          value={address.value}
          onInput={({ currentTarget }) => (address.value = currentTarget.value)}
        />
        <button type="submit">Open</button>
      </form>
      {hasArchives && (
        <>
          <h3>On the server</h3>
          <input
            type="search"
            aria-label="Filter archives"
            placeholder="Filter"
            value={filter.value}
            onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
          />
          <ul class="on-server">
            {found.slice(0, MOST_ARCHIVES).map((info) => (
              <li key={info.id} class="row">
                <button
                  type="button"
                  class={`leaf${`archive:${info.id}` === currentKey.value ? ' on' : ''}`}
                  onClick={() => openArchive(info, 'alone')}
                >
                  <span class="title">
                    {info.host} · {formatDuration(info.end - info.start)}
                  </span>
                  <small>{betweenText(info, zone)}</small>
                </button>
                {`archive:${info.id}` !== currentKey.value && (
                  <button
                    type="button"
                    aria-label={`Compare with ${info.id}`}
                    onClick={() => openArchive(info, 'with')}
                  >
                    Compare
                  </button>
                )}
              </li>
            ))}
          </ul>
          {found.length > MOST_ARCHIVES && (
            <p class="more">{found.length - MOST_ARCHIVES} more; use the filter to find them</p>
          )}
          {isKnown.value && found.length === 0 && (
            <p class="empty">{archives.value.length === 0 ? 'No archives yet' : 'No archive matches'}</p>
          )}
        </>
      )}
    </div>
  )
}
