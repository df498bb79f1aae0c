/** The tools of the server, in the order in which an assistant needs them. */
import type { McpTool } from '../mcp-tool.ts'
import { compare } from './compare.ts'
import { describe } from './describe.ts'
import { findMetrics } from './find-metrics.ts'
import { processesAt } from './processes-at.ts'
import { query } from './query.ts'
import { sources } from './sources.ts'
import { whatChanged } from './what-changed.ts'

/** Every tool; each only reads. */
export const TOOLS: readonly McpTool[] = [
  sources,
  whatChanged,
  findMetrics,
  describe,
  query,
  compare,
  processesAt,
]
