/** A tool of the server for assistants: a row of the table in tools/index.ts. */

import type { z } from 'zod'
import type { Moments } from './moments.ts'
import type { PageLinks } from './page-links.ts'
import type { Sources } from './sources.ts'

/** What tools work with. */
export interface Desk {
  readonly sources: Sources
  readonly moments: Moments
  readonly links: PageLinks
  /** Aborted when the assistant cancels the call, or the server ends. */
  readonly signal: AbortSignal
}

/** A tool with arguments of this schema. */
export interface McpTool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly title: string
  /** For the assistant: what the answer has, and when to use it. */
  readonly description: string
  readonly input: z.ZodObject<Shape>
  /** Returns the answer, at most `MOST_TOKENS` long. Rejects with a PcpError for the assistant. */
  run(input: z.output<z.ZodObject<Shape>>, desk: Desk): Promise<string>
}

/** Declares a tool; its arguments then have the types of its schema. */
export const mcpTool = <Shape extends z.ZodRawShape>(tool: McpTool<Shape>): McpTool =>
  tool as unknown as McpTool
