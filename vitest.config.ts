import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What is awaited comes when it comes: how long a busy machine may take before it counts as never. */
const PATIENT = { poll: { timeout: 30_000 } }

/** Tests that need nothing but Node do not see the user's home and settings either. */
const ALONE = { globalSetup: ['test/lib/environment.ts'] }

const PROCESSOR_TIME = ['test/lib/processor-time.ts']

/** A limit for interop tests that hang; comparisons of everything (`npm run exhaustive`) take longer. */
const INTEROP_LIMIT_MS = process.env['PCP_TS_EXHAUSTIVE'] === '1' ? 3_600_000 : 300_000

/**
 * Interop tests that may run beside each other: programs over archives and files, and collectors of ours. The reference's agents share files of
 * instance numbers (/var/lib/pcp/config/pmda), so tests that start some run one at a time, and so do those of the page, which draws live values.
 */
const SIDE_BY_SIDE = [
  'agent-install',
  'archive-*',
  'archives',
  'debian-package',
  'derived-differential',
  'executable',
  'exporters',
  'lines',
  'package*',
  'pcp-*',
  'pmapi-differential',
  'pmconfig',
  'pmcpp',
  'pmda-cache',
  'pmgenmap',
  'pmie',
  'pmlogctl',
  'pmlogger-daily',
  'pmlogrewrite',
  'pmns-tools',
  'pmrep*',
  'pmval',
  'rules',
  'same-time',
  'start',
  'time-control',
].map((name) => `test/interop/${name}.test.ts`)

/** Files that take minutes, the slowest first. Begun last, each would run alone at the end. */
const SLOW = [
  'e2e/kills',
  'e2e/interrupt',
  'e2e/terminal',
  'e2e/docs-commands',
  'e2e/pmlogger-daily',
  'interop/package',
  'interop/pmlogger-daily',
].map((name) => `/test/${name}.test.ts`)

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW.findIndex((path) => moduleId.endsWith(path))
      return at < 0 ? SLOW.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          name: 'unit',
          ...ALONE,
          setupFiles: ['test/lib/quiet.ts', 'test/lib/property-seed.ts'],
          expect: PATIENT,
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/security/**', 'test/interop/**', 'test/fuzz/**'],
          isolate: false,
          pool: 'threads',
          // A limit for what hangs: on a busy machine the slowest tests take a minute instead of six seconds.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'e2e',
          ...ALONE,
          setupFiles: PROCESSOR_TIME,
          expect: PATIENT,
          sequence: { groupOrder: 1 },
          include: ['test/e2e/**/*.test.ts', 'test/security/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 300_000,
          // Some prepare what all of their tests need.
          hookTimeout: 300_000,
          // More than processors of a small machine, because these tests often wait. CI runs interop tests beside them.
          maxWorkers: process.env['CI_PROGRESS'] === undefined ? 3 : 2,
        },
      },
      {
        test: {
          name: 'interop-beside',
          setupFiles: PROCESSOR_TIME,
          expect: PATIENT,
          sequence: { groupOrder: 2 },
          include: SIDE_BY_SIDE,
          pool: 'forks',
          testTimeout: INTEROP_LIMIT_MS,
          hookTimeout: INTEROP_LIMIT_MS,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'interop-alone',
          setupFiles: PROCESSOR_TIME,
          expect: PATIENT,
          sequence: { groupOrder: 3 },
          include: ['test/interop/**/*.test.ts'],
          exclude: SIDE_BY_SIDE,
          pool: 'forks',
          testTimeout: INTEROP_LIMIT_MS,
          hookTimeout: INTEROP_LIMIT_MS,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'fuzz',
          expect: PATIENT,
          sequence: { groupOrder: 4 },
          include: ['test/fuzz/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
