/** Starts a logger from its settings: connects, looks up metrics, creates the archive. docs/reference/pmlogger.md */
import type { WriterOptions } from '../archive/write/writer.ts'
import { loggableMessage } from '../base/printable.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Context } from '../pmapi/context.ts'
import { bind, configuredRequests } from './bind.ts'
import { type CollectorFacts, readFacts } from './collector-facts.ts'
import type { LoggedMetric } from './logged-metric.ts'
import { Logger } from './logger.ts'
import type { LoggerParts, LoggerSettings } from './settings.ts'
import { planTasks } from './tasks.ts'

const NOTHING_TO_LOG = 'Nothing to log, and not the primary logger instance ... good-bye'

/**
 * Connects, looks up the metrics, creates the archive with its first record, and starts logging. Throws PM_ERR_NODATA if there is
 * nothing to log, EEXIST if the archive exists, and errors of connecting or writing; no files are left behind then.
 */
export async function startLogger(settings: LoggerSettings, signal: AbortSignal): Promise<Logger> {
  const context = await settings.open(signal)
  try {
    return await begin(settings, context)
  } catch (error) {
    await context.close()
    throw error
  }
}

async function begin(settings: LoggerSettings, context: Context): Promise<Logger> {
  const { log, pool, defaultDeltaMs, statements } = settings
  const facts = await readFacts(context)
  const metrics = new Map<Pmid, LoggedMetric>()
  const warn = (text: string): void => log.line(text)
  const roots = await bind(context, configuredRequests(statements), { metrics, pool, defaultDeltaMs, warn })
  log.line('Config parsed')
  const title = settings.isPrimary ? 'primary logger' : 'logger'
  log.line(
    loggableMessage(`Starting ${title} for host "${hostOf(settings, facts)}" via "${settings.source}"`),
  )
  if (planTasks(metrics.values()).length === 0 && !settings.isPrimary && !settings.lingers)
    throw new PcpError('PM_ERR_NODATA', NOTHING_TO_LOG)
  if (settings.mayRecord?.() === false)
    throw new PcpError('ECANCELED', `Another recorder has "${settings.source}" now`)
  const logger = make(settings, { context, facts, metrics, roots, label: labelOf(settings, facts) })
  log.line(`Archive basename: ${settings.archiveName}`)
  try {
    logger.begin()
  } catch (error) {
    logger.discard()
    throw error
  }
  return logger
}

/** Creates the logger; reports an existing archive with PCP's two lines. */
function make(settings: LoggerSettings, parts: LoggerParts): Logger {
  try {
    return new Logger(settings, parts)
  } catch (error) {
    const { code, text, message } = PcpError.from(error)
    const { archiveName: name } = settings
    const first =
      code === 'EEXIST' ? `__pmLogNewFile: "${name}.index" already exists, not over-written` : message
    throw new PcpError(
      code,
      `${first}\n__pmLogCreate(${hostOf(settings, parts.facts)}, ${name}, ...): ${text}`,
      { reason: 'verbatim' },
    )
  }
}

function hostOf({ labelHost, source }: LoggerSettings, { hostname }: CollectorFacts): string {
  return labelHost ?? (hostname || source)
}

function labelOf(
  settings: LoggerSettings,
  facts: CollectorFacts,
): Required<Pick<WriterOptions, 'hostname' | 'timezone' | 'zoneinfo'>> {
  const { timezone, zoneinfo } = settings.timezone ?? facts
  return { hostname: hostOf(settings, facts), timezone: timezone || 'UTC', zoneinfo }
}
