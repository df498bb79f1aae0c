import { defineConfig } from 'vitest/config'

/** Of the interop tests those that run programs over archives and files, without a collector: they may run beside each other. */
const OVER_ARCHIVES = [
  'archive-*',
  'archives',
  'derived-differential',
  'exporters',
  'package',
  'pcp-*',
  'pmie',
  'pmlogrewrite',
  'pmns-tools',
  'pmrep*',
].map((name) => `test/interop/${name}.test.ts`)

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/interop/**', 'test/fuzz/**'],
          isolate: false,
          pool: 'threads',
          // A limit for what hangs, not for what is slow on a busy machine.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 1 },
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'interop-archives',
          sequence: { groupOrder: 2 },
          include: OVER_ARCHIVES,
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'interop',
          sequence: { groupOrder: 3 },
          include: ['test/interop/**/*.test.ts'],
          exclude: OVER_ARCHIVES,
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'fuzz',
          sequence: { groupOrder: 4 },
          include: ['test/fuzz/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 600_000,
        },
      },
    ],
  },
})
